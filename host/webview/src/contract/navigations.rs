//! Pages that go elsewhere.

use serde_json::{Value, json};

use super::bench::{Bench, PATIENCE, failure};
use crate::{FailureKind, OutcomeState, Script, WebViewError};

pub(super) async fn navigate(bench: &Bench) {
    let page = bench.open();
    let origin = bench.server.origin();
    let outcome = page.navigate("/").await;
    assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
    let result: Value = serde_json::from_slice(&outcome.data).expect("JSON");
    assert_eq!(
        (&result["url"], &result["status"], &result["title"]),
        (&json!(format!("{origin}/")), &json!(200), &json!("first"))
    );
    let cut = page.begin(Script { max_bytes: Some(5), ..Script::new("globalThis.mark = 1; 'x'.repeat(100)") });
    assert_eq!(page.wait(cut).await.state, OutcomeState::Done);
    let pending = page.execute("new Promise(() => {})");
    let outcome = page.navigate("/second").await;
    assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
    assert_eq!(failure("a promise", &page.wait(pending).await).0, FailureKind::Navigated);
    assert_eq!(page.value("typeof globalThis.mark").await, "undefined");
    let rest = page.pages().read_result(&page.owner, cut, 50, 10, PATIENCE).await;
    assert!(matches!(rest, Err(WebViewError::Gone { .. })), "{rest:?}");
    let info = page.until("was located", |info| info.title == "second").await;
    assert_eq!(info.url, format!("{origin}/second"));
    let result: Value = serde_json::from_slice(&page.navigate("/missing").await.data).expect("JSON");
    assert_eq!(result["status"], 404);
    page.close().await;
}

pub(super) async fn by_script(bench: &Bench) {
    let page = bench.open();
    assert_eq!(page.navigate("/").await.state, OutcomeState::Done);
    let (kind, _) = page
        .failure("location.href = '/second'.replace(/^/, location.href.replace(/\\/$/, '')); new Promise(() => {})")
        .await;
    assert_eq!(kind, FailureKind::Navigated);
    page.until("went to the second page", |info| info.title == "second").await;
    assert_eq!(page.value("document.title").await, "second");
    page.close().await;
}

pub(super) async fn storage(bench: &Bench) {
    let (one, two) = (bench.open(), bench.open());
    for page in [&one, &two] {
        assert_eq!(page.navigate("/").await.state, OutcomeState::Done);
    }
    let stores =
        "document.cookie = 'mine=1'; localStorage.setItem('mine', '1'); [document.cookie, localStorage.length]";
    assert_eq!(one.value(stores).await, json!(["mine=1", 1]));
    assert_eq!(two.value("[document.cookie, localStorage.length]").await, json!(["", 0]));
    one.close().await;
    two.close().await;
}
