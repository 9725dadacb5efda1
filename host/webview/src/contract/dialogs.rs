//! Dialogs: reported, answered at once, and forgotten.

use wharf_core::WebViewLimits;

use super::bench::{Bench, Page, failure};
use crate::{DialogAnswer, DialogKind, DialogPolicy, FailureKind, LogName, OutcomeState, WebViewError};

fn answer(page: &Page<'_>, accept: bool, text: Option<&str>) -> Result<(), WebViewError> {
    page.pages().answer_dialog(&page.owner, page.id, DialogAnswer { accept, text: text.map(str::to_owned) })
}

pub(super) async fn reported(bench: &Bench) {
    let (page, other) = (bench.open(), bench.open());
    assert!(matches!(answer(&page, true, None), Err(WebViewError::Conflict { .. })));
    let asks = page.execute("prompt('your name?', 'nobody')");
    let outcome = page.wait(asks).await;
    assert_eq!(outcome.state, OutcomeState::Pending, "the wait ends when the dialog opens");
    let dialog = outcome.dialog.expect("a dialog");
    assert_eq!(
        (dialog.kind, dialog.message.as_str(), dialog.default_text.as_str()),
        (DialogKind::Prompt, "your name?", "nobody")
    );
    let (kind, message) = failure("behind it", &page.poll(page.execute("1")));
    assert_eq!(kind, FailureKind::DialogOpen);
    assert!(message.contains("your name?"), "{message}");
    assert_eq!(other.value("'elsewhere'").await, "elsewhere");
    answer(&page, true, Some("somebody")).expect("a dialog");
    assert!(matches!(answer(&page, true, None), Err(WebViewError::Conflict { .. })), "it is answered once");
    assert_eq!(page.wait(asks).await.data[..], *b"\"somebody\"");
    // Right behind an answer there is no dialog any more.
    let asks = page.execute("confirm('sure?')");
    assert!(page.wait(asks).await.dialog.is_some());
    answer(&page, false, None).expect("a dialog");
    assert_eq!(page.value("'behind'").await, "behind");
    assert_eq!(page.wait(asks).await.data[..], *b"false");
    let said = page.pages().entries(&page.owner, page.id, LogName::Console, 0, 100).expect("a log").entries;
    assert!(said.contains("your name?") && said.contains("accepted") && said.contains("dismissed"), "{said}");
    // A page with a dialog can be closed.
    let asks = page.execute("alert('stay')");
    assert!(page.wait(asks).await.dialog.is_some());
    page.close().await;
    assert_eq!(failure("an alert", &page.poll(asks)).0, FailureKind::Cancelled);
    other.close().await;
}

pub(super) async fn at_once(bench: &Bench) {
    for (policy, expected) in [
        (DialogPolicy::Accept, serde_json::json!([null, true, "given"])),
        (DialogPolicy::Dismiss, serde_json::json!([null, false, null])),
    ] {
        let page = bench.open_with(policy);
        assert_eq!(page.value("[alert('a'), confirm('b'), prompt('c', 'given')]").await, expected);
        page.close().await;
    }
}

pub(super) async fn forgotten(bench: &Bench) {
    let bench = bench.with(WebViewLimits { dialog_milliseconds: 200, pages: 10, ..WebViewLimits::default() });
    let page = bench.open();
    let asks = page.execute("confirm('anybody?')");
    loop {
        let outcome = page.wait(asks).await;
        if outcome.state != OutcomeState::Pending {
            assert_eq!(outcome.data[..], *b"false", "{:?}", outcome.failure);
            break;
        }
        page.until("lets go of its dialog", |info| info.dialog.is_none()).await;
    }
    page.close().await;
}
