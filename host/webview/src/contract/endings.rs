//! Pages that end, and what runs them.

use std::time::Duration;

use super::{Bench, PATIENCE, failure};
use crate::{CloseReason, FailureKind, OutcomeState, PageId, Script, Status, WebViewError};

pub(super) async fn close(bench: &Bench) {
    let page = bench.open();
    assert_eq!(page.value("1").await, 1);
    let pending = page.execute("new Promise(() => {})");
    let looping = page.execute("while (true) {}");
    page.close().await;
    for request in [pending, looping] {
        assert_eq!(failure("a promise", &page.poll(request)).0, FailureKind::Cancelled);
    }
    assert_eq!((page.info().status, page.info().closed_because), (Status::Closed, Some(CloseReason::Owner)));
    let after = page.pages().execute(&page.owner, page.id, Script::new("1"));
    assert!(matches!(after, Err(WebViewError::Closed { reason: "owner" })), "{after:?}");
    // One that was never used.
    let unused = bench.open();
    unused.close().await;
}

pub(super) async fn crash(bench: &Bench, crash: &(dyn Fn(PageId) + Send + Sync)) {
    let page = bench.open();
    assert_eq!(page.navigate("/").await.state, OutcomeState::Done);
    for pending in ["new Promise(() => {})", "while (true) {}"] {
        let pending = page.execute(pending);
        crash(page.id);
        assert_eq!(failure("a promise", &page.wait(pending).await).0, FailureKind::Crashed);
        assert_eq!(page.info().status, Status::Crashed);
        let (kind, message) = failure("after it", &page.poll(page.execute("1")));
        assert_eq!(kind, FailureKind::Crashed);
        assert!(message.contains("navigate"), "{message}");
        let outcome = page.navigate("/second").await;
        assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
        assert_eq!(page.value("document.title").await, "second");
        assert_ne!(page.info().status, Status::Crashed);
    }
    page.close().await;
}

pub(super) async fn kill(bench: &Bench, kill: &(dyn Fn() + Send + Sync)) {
    let pages: Vec<_> = (0..3).map(|_| bench.open()).collect();
    for page in &pages {
        assert_eq!(page.value("1").await, 1);
    }
    let pending: Vec<_> = pages.iter().map(|page| page.execute("new Promise(() => {})")).collect();
    kill();
    for (page, request) in pages.iter().zip(pending) {
        assert_eq!(failure("a promise", &page.wait(request).await).0, FailureKind::BackendGone);
        let info = page.until("was closed", |info| info.status == Status::Closed).await;
        assert_eq!(info.closed_because, Some(CloseReason::BackendGone));
    }
    // What comes next is run again, as soon as it can be.
    let page = bench.open();
    assert_eq!(page.value("'again'").await, "again");
    page.close().await;
}

pub(super) async fn shut_down(bench: &Bench) {
    let page = bench.open();
    assert_eq!(page.value("1").await, 1);
    let pending = page.execute("new Promise(() => {})");
    let looping = page.execute("while (true) {}");
    tokio::time::timeout(PATIENCE, bench.pages.shut_down(Duration::from_secs(20))).await.expect("an end");
    for request in [pending, looping] {
        assert_eq!(failure("a promise", &page.poll(request)).0, FailureKind::Cancelled);
    }
    assert_eq!(page.info().closed_because, Some(CloseReason::ShuttingDown));
    let granted = bench.grants.webview(&bench.plugin).expect("a grant");
    let context = wharf_core::Context::new(page.owner.tenant.clone(), page.owner.session.clone());
    let opened = bench.pages.open(&granted, &context, None, crate::Wanted::default());
    assert!(matches!(opened, Err(WebViewError::ShuttingDown)), "{opened:?}");
}
