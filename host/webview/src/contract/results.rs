//! What can be sent, how much of it, and for how long it is kept.

use std::time::Duration;

use wharf_core::WebViewLimits;

use super::bench::{Bench, PATIENCE, Page, failure, until};
use crate::{FailureKind, OutcomeState, RequestId, Script, WebViewError};

pub(super) async fn unserialisable(bench: &Bench) {
    let page = bench.open();
    for (source, expected) in [
        ("const a = {}; a.self = a; a", "contains itself"),
        ("const a = new Map(); a.set('a', a); a", "contains itself"),
        ("const a = [1]; a.push({ deep: a }); a", "contains itself"),
        ("() => 1", "a function"),
        ("Symbol('x')", "a symbol"),
        ("0 / 0", "NaN"),
        ("-1 / 0", "-Infinity"),
        ("10n", "BigInt"),
        ("({ a: [10n] })", "BigInt"),
    ] {
        let (kind, message) = page.failure(source).await;
        assert_eq!(kind, FailureKind::Unserialisable, "{source}: {message}");
        assert!(message.contains(expected), "{source}: {message}");
    }
    page.close().await;
}

pub(super) async fn nodes(bench: &Bench) {
    let page = bench.open();
    for (source, expected) in [
        ("document.body", "<body>"),
        ("window", "a window"),
        ("document", "#document"),
        ("document.createElement('a')", "textContent"),
    ] {
        let (kind, message) = page.failure(source).await;
        assert_eq!(kind, FailureKind::Unserialisable, "{source}: {message}");
        assert!(message.contains(expected), "{source}: {message}");
    }
    let source = "const one = document.createElement('input'); one.id = 'x'; ({ one, all: [window] })";
    assert_eq!(page.value(source).await, serde_json::json!({ "one": "<input id=\"x\">", "all": ["[window]"] }));
    page.close().await;
}

pub(super) async fn surrogates(bench: &Bench) {
    let page = bench.open();
    assert_eq!(page.value("'a\\ud800b'").await, "a\u{fffd}b");
    assert_eq!(page.value("'\\udc00\\ud83d\\ude00\\ud83d'").await, "\u{fffd}😀\u{fffd}");
    assert_eq!(page.value("({ '\\ud800': '\\\\ud800' })").await, serde_json::json!({ "\u{fffd}": "\\ud800" }));
    let (kind, message) = page.failure("throw new Error('half \\ud800')").await;
    assert_eq!(kind, FailureKind::Exception);
    assert!(message.contains("half \u{fffd}"), "{message}");
    page.close().await;
}

/// Reads a result to its end from a byte on, in pieces.
async fn read(page: &Page<'_>, request: RequestId, mut from: u64, most: usize) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let piece = page.pages().read_result(&page.owner, request, from, most, PATIENCE).await.expect("a piece");
        assert_eq!(piece.start, from, "a piece begins where the last one ended");
        assert_eq!(piece.next - piece.start, piece.data.len() as u64);
        if piece.data.is_empty() {
            assert_eq!(piece.next, piece.bytes);
            return all;
        }
        assert!(std::str::from_utf8(&piece.data).is_ok(), "no character is split");
        all.extend(piece.data);
        from = piece.next;
    }
}

pub(super) async fn paged(bench: &Bench) {
    let page = bench.open();
    let source = "'aé한😀\\ufeff\"\\\\'.repeat(500)";
    let whole = serde_json::to_vec(&"aé한😀\u{feff}\"\\".repeat(500)).expect("JSON");
    for max_bytes in [1, 2, 3, 100, 4_097] {
        let request = page.begin(Script { max_bytes: Some(max_bytes), ..Script::new(source) });
        let outcome = page.wait(request).await;
        assert_eq!((outcome.state, outcome.truncated), (OutcomeState::Done, true), "{:?}", outcome.failure);
        assert_eq!(outcome.bytes, whole.len() as u64);
        assert!(outcome.data.len() <= max_bytes as usize && whole.starts_with(&outcome.data));
        assert_eq!(page.poll(request).data, outcome.data, "polling again gives the same");
        assert!(read(&page, request, 0, 1_000).await == whole, "{max_bytes}");
    }
    let request = page.begin(Script { max_bytes: Some(10), ..Script::new(source) });
    page.wait(request).await;
    assert!(read(&page, request, 0, 1).await == whole, "a piece has a character at least");
    // What was sent whole is paged, too.
    let request = page.execute(source);
    assert!(!page.wait(request).await.truncated);
    assert!(read(&page, request, 0, 777).await == whole);
    // The page keeps the last four, each under a number of its own.
    let of = |number: usize| format!("'{number}'.repeat(1000)");
    let begin = |number| page.begin(Script { max_bytes: Some(10), ..Script::new(of(number)) });
    let requests: Vec<_> = (0..5).map(begin).collect();
    for request in &requests {
        page.wait(*request).await;
    }
    let first = page.pages().read_result(&page.owner, requests[0], 100, 10, PATIENCE).await;
    assert!(matches!(first, Err(WebViewError::Gone { .. })), "{first:?}");
    for (number, request) in requests.iter().enumerate().skip(1) {
        let whole = format!("\"{}\"", number.to_string().repeat(1_000));
        assert!(read(&page, *request, 0, 4_000).await == whole.as_bytes(), "{number}");
    }
    page.pages().acknowledge(&page.owner, requests[1]).expect("a request");
    let after = page.pages().read_result(&page.owner, requests[1], 100, 10, PATIENCE).await;
    assert!(matches!(after, Err(WebViewError::Gone { .. })), "{after:?}");
    page.close().await;
}

pub(super) async fn large(bench: &Bench) {
    const BYTES: u64 = 50_000_002;
    let page = bench.open();
    let request = page.execute("'0123456789'.repeat(5000000)");
    let outcome = page.wait(request).await;
    assert_eq!((outcome.state, outcome.truncated, outcome.bytes), (OutcomeState::Done, true, BYTES));
    assert_eq!(outcome.data.len(), 1 << 20);
    tracing::info!(milliseconds = outcome.elapsed.as_millis(), "50 MB were cut");
    let read = |from| page.pages().read_result(&page.owner, request, from, 1 << 20, PATIENCE);
    let piece = read(1 << 20).await.expect("a piece");
    // A quote is before the digits.
    assert_eq!(
        (piece.data.len(), piece.data[0]),
        (1 << 20, b'0' + u8::try_from(((1 << 20) - 1) % 10).expect("a digit"))
    );
    let last = read(BYTES - 4).await.expect("a piece");
    assert_eq!((last.data, last.next), (b"789\"".to_vec(), BYTES));
    page.close().await;
}

pub(super) async fn never_polled(bench: &Bench) {
    let bench = bench.with(WebViewLimits { kept_seconds: 1, pages: 10, ..WebViewLimits::default() });
    let page = bench.open();
    // The last one says that all have run.
    let requests: Vec<_> = (0..200)
        .map(|number| {
            let request = page.pages().execute(&page.owner, page.id, Script::new(format!("'x'.repeat({number})")));
            request.ok()
        })
        .collect();
    let begun: Vec<_> = requests.into_iter().flatten().collect();
    assert!(begun.len() >= 64, "{}", begun.len());
    let nothing_is_left = || {
        let metrics = page.pages().metrics();
        ((metrics.pending, metrics.results, metrics.result_bytes) == (0, 0, 0)).then_some(())
    };
    until(nothing_is_left).await.expect("results expire whoever looks");
    for request in begun {
        assert_eq!(page.poll(request).state, OutcomeState::Expired);
    }
    let late = page.begin(Script { deadline: Some(Duration::from_secs(1)), ..Script::new("new Promise(() => {})") });
    assert_eq!(failure("a promise", &page.wait(late).await).0, FailureKind::TimeOut);
    page.close().await;
}
