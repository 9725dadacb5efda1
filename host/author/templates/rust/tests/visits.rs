//! Visits, without Wasm: the state is in memory and keeps the contract.

use serde_json::json;
use wharf_sdk::testing::TestCall;
use {{crate}}::WharfPlugin;

#[test]
fn each_session_counts_its_own_visits() {
    let host = TestCall::new().session("a");
    let visit = json!({ "visitor": "Ada" });
    for expected in ["Visit 1 of Ada.", "Visit 2 of Ada."] {
        assert_eq!(host.run::<WharfPlugin>("count_visit", &visit).as_text(), expected);
    }
    assert_eq!(host.clone().session("b").run::<WharfPlugin>("count_visit", &visit).as_text(), "Visit 1 of Ada.");
}
