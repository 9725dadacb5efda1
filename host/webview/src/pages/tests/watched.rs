//! Pages that the operator watches.

use std::time::Duration;

use tokio::{task::JoinSet, time::advance};
use wharf_contract::webview::{ConsoleKind, LogName};
use wharf_core::WebViewLimits;

use super::support::Bench;
use crate::{ConsoleEntry, DialogKind, DialogOpened, PageEvent, PageId, WebViewError};

#[tokio::test(start_paused = true)]
async fn all_who_watch_a_page_get_one_picture_a_second() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    bench.quiet.calls(page);
    bench.quiet.pictures.0.add_permits(10);
    let mut watching = JoinSet::new();
    for _ in 0..100 {
        let pages = bench.pages.clone();
        watching.spawn(async move { pages.watched_picture(page).await });
    }
    for drawn in watching.join_all().await {
        assert_eq!(&*drawn.expect("a picture"), b"a picture");
    }
    assert_eq!(bench.quiet.words(page), ["draw"]);
    bench.pages.watched_picture(page).await.expect("the same");
    assert!(bench.quiet.words(page).is_empty(), "it is fresh");
    advance(Duration::from_secs(1)).await;
    bench.pages.watched_picture(page).await.expect("another one");
    assert_eq!(bench.quiet.words(page), ["draw"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_answer_is_asked_once_until_it_does() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    bench.quiet.calls(page);
    for _ in 0..5 {
        let drawn = bench.pages.watched_picture(page).await;
        assert!(matches!(drawn, Err(WebViewError::Unavailable { retryable: true, .. })), "{drawn:?}");
    }
    assert_eq!(bench.quiet.words(page), ["draw"]);
    bench.quiet.pictures.0.add_permits(1);
    bench.pages.watched_picture(page).await.expect("it has answered");
    assert!(bench.quiet.words(page).is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_drawn_says_why() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    bench.quiet.calls(page);
    let dialog = DialogOpened { kind: DialogKind::Alert, message: "stop".to_owned(), default_text: String::new() };
    bench.quiet.sink(page).tell(PageEvent::DialogOpened(dialog));
    let drawn = bench.pages.watched_picture(page).await;
    assert!(matches!(drawn, Err(WebViewError::Conflict { .. })), "{drawn:?}");
    bench.pages.close_for_operator(page, Duration::from_secs(1)).await.expect("a page");
    let drawn = bench.pages.watched_picture(page).await;
    assert!(matches!(drawn, Err(WebViewError::Gone { .. })), "{drawn:?}");
    assert!(!bench.quiet.words(page).contains(&"draw"));
    let unknown = PageId::random().expect("randomness");
    assert!(matches!(bench.pages.watched_picture(unknown).await, Err(WebViewError::NoPage)));
    assert!(matches!(bench.pages.watched(unknown), Err(WebViewError::NoPage)));
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_logs_shows_the_last_entries_and_keeps_no_page_open() {
    let bench = Bench::new(WebViewLimits { idle_seconds: 60, ..WebViewLimits::default() });
    let page = bench.open();
    for number in 0..5 {
        let entry = ConsoleEntry { kind: ConsoleKind::Log, text: number.to_string(), url: None, line: None };
        bench.quiet.sink(page).tell(PageEvent::Console(entry));
    }
    let last = bench.pages.watched_entries(page, LogName::Console, 2).expect("a page");
    assert!(last.entries.contains("\"4\"") && last.entries.contains("\"3\"") && !last.entries.contains("\"2\""));
    assert_eq!(last.next, 5);
    advance(Duration::from_secs(50)).await;
    bench.pages.watched_entries(page, LogName::Console, 2).expect("a page");
    advance(Duration::from_secs(20)).await;
    assert_eq!(bench.pages.sweep().closed, 1, "to look is no use");
}
