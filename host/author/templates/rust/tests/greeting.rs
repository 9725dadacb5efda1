//! The greeting, as the host calls it: JSON in, an answer out, both held against the schemas.

use serde_json::json;
use wharf_sdk::testing::{TestCall, check_definitions};
use {{crate}}::WharfPlugin;

#[test]
fn somebody_is_greeted_by_name() {
    let answer = TestCall::new().run::<WharfPlugin>("greet", &json!({ "name": "Ada" }));
    assert_eq!(answer.as_text(), "Welcome, Ada.");
}

#[test]
fn every_tool_says_all_that_a_model_needs() {
    check_definitions::<WharfPlugin>();
}
