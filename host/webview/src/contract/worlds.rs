//! The world of the page, and the one apart from it.

use std::time::Duration;

use super::bench::{Bench, PATIENCE, Page};
use crate::{FailureKind, OutcomeState, Script};

async fn apart(page: &Page<'_>, source: &str) -> serde_json::Value {
    let outcome =
        page.wait(page.begin(Script { isolated: true, deadline: Some(PATIENCE), ..Script::new(source) })).await;
    assert_eq!(outcome.state, OutcomeState::Done, "{source}: {:?}", outcome.failure);
    serde_json::from_slice(&outcome.data).expect("JSON")
}

pub(super) async fn isolated(bench: &Bench) {
    let page = bench.open();
    assert_eq!(page.value("globalThis.mine = 'page'; mine").await, "page");
    assert_eq!(apart(&page, "typeof mine").await, "undefined");
    assert_eq!(apart(&page, "globalThis.mine = 'apart'; mine").await, "apart");
    assert_eq!(page.value("mine").await, "page");
    // A hostile page, which lies about everything that results are made with.
    let lies = "JSON.stringify = () => '\"lie\"'; Object.prototype.toString = () => 'lie'; \
                Promise.prototype.then = function () { return 'lie' }; Array.prototype.map = () => ['lie']; 1";
    let briefly = |source: &str| Script { deadline: Some(Duration::from_secs(1)), ..Script::new(source) };
    page.wait(page.begin(briefly(lies))).await;
    assert_eq!(apart(&page, "({ a: [1, 2].map(n => n + 1) })").await, serde_json::json!({ "a": [2, 3] }));
    // What it forges is refused or is its own result, never anybody else's.
    let forged = page.wait(page.begin(briefly("1"))).await;
    assert!(matches!(forged.state, OutcomeState::Done | OutcomeState::Failed), "{forged:?}");
    let cut = page.begin(Script { isolated: true, max_bytes: Some(5), ..Script::new("'x'.repeat(100)") });
    assert_eq!(page.wait(cut).await.bytes, 102);
    let piece = page.pages().read_result(&page.owner, cut, 90, 100, PATIENCE).await.expect("a piece");
    assert_eq!(piece.data, b"xxxxxxxxxxx\"");
    let outcome = page.wait(page.begin(Script { isolated: true, ..Script::new("throw new Error('apart')") })).await;
    assert_eq!(outcome.failure.expect("a failure").kind, FailureKind::Exception);
    page.close().await;
}
