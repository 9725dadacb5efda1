//! Sequential thinking.

use serde_json::{Value, json};

use crate::{TestAgent as _, Thread};

fn thought(number: u32, total: u32) -> Value {
    json!({ "thought": format!("thought {number}"), "nextThoughtNeeded": true, "thoughtNumber": number, "totalThoughts": total })
}

fn with(mut thought: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut thought, more) {
        fields.extend(more);
    }
    thought
}

#[test]
fn a_total_below_the_number_is_raised_to_it() {
    let thread = Thread::new();
    let (taken, text) = thread.answer("sequentialthinking", &thought(5, 3));
    assert_eq!(
        taken,
        json!({
            "thoughtNumber": 5, "totalThoughts": 5, "nextThoughtNeeded": true, "branches": [],
            "thoughtHistoryLength": 1, "thoughtsKept": 1,
        })
    );
    assert_eq!(text, "Thought 5 of 5 is recorded; another one is needed. 1 so far.");
}

#[test]
fn a_branch_needs_both_of_its_fields() {
    let thread = Thread::new();
    thread.ok("sequentialthinking", &thought(1, 2));
    let half = with(thought(2, 2), json!({ "branchFromThought": 1 }));
    assert!(thread.refused("sequentialthinking", &half).starts_with("invalid: `branchFromThought` needs `branchId`"));
    let half = with(thought(2, 2), json!({ "branchId": "other" }));
    assert!(thread.refused("sequentialthinking", &half).starts_with("invalid: `branchId` needs `branchFromThought`"));
    let whole = with(thought(2, 2), json!({ "branchFromThought": 1, "branchId": "other" }));
    thread.ok("sequentialthinking", &whole);
    let taken = thread.ok("sequentialthinking", &whole);
    assert_eq!((&taken["branches"], &taken["thoughtHistoryLength"]), (&json!(["other"]), &json!(3)));
}

#[test]
fn a_revision_names_what_it_revises() {
    let thread = Thread::new();
    let nameless = with(thought(2, 2), json!({ "isRevision": true }));
    assert!(thread.refused("sequentialthinking", &nameless).starts_with("invalid: `isRevision` needs"));
    thread.ok("sequentialthinking", &with(thought(2, 2), json!({ "isRevision": true, "revisesThought": 1 })));
}

#[test]
fn needing_more_thoughts_means_that_another_one_follows() {
    let thread = Thread::new();
    let last = with(thought(2, 2), json!({ "nextThoughtNeeded": false }));
    assert_eq!(thread.ok("sequentialthinking", &last)["nextThoughtNeeded"], false);
    let more = with(last, json!({ "needsMoreThoughts": true }));
    assert_eq!(thread.ok("sequentialthinking", &more)["nextThoughtNeeded"], true);
}

#[test]
fn the_last_hundred_thoughts_are_kept_and_all_are_counted() {
    let thread = Thread::new();
    for number in 1..=105 {
        thread.ok("sequentialthinking", &thought(number, 105));
    }
    let usage = thread.0.call().state(wharf_sdk::Scope::Thread, "planning").and_then(|bucket| bucket.usage());
    assert_eq!(usage.expect("state is granted").entries, 101, "the document and 100 thoughts");
    let taken = thread.ok("sequentialthinking", &thought(106, 106));
    assert_eq!((&taken["thoughtHistoryLength"], &taken["thoughtsKept"]), (&json!(106), &json!(100)));
    let (state, text) = thread.answer("get_current_state", &json!({ "recentThoughts": 3 }));
    let numbers: Vec<_> =
        state["recentThoughts"].as_array().into_iter().flatten().map(|t| &t["thoughtNumber"]).collect();
    assert_eq!(numbers, [&json!(104), &json!(105), &json!(106)]);
    assert!(text.ends_with("Thoughts: 106\n  104: thought 104\n  105: thought 105\n  106: thought 106"), "{text}");
}

#[test]
fn only_so_many_branches_are_remembered() {
    let thread = Thread::new();
    for branch in 0..60 {
        let branch = json!({ "branchFromThought": 1, "branchId": format!("branch {branch}") });
        thread.ok("sequentialthinking", &with(thought(2, 2), branch));
    }
    let taken = thread.ok("sequentialthinking", &thought(3, 3));
    assert_eq!(taken["branches"].as_array().map(Vec::len), Some(50));
    assert_eq!(taken["branches"][49], "branch 59");
}
