//! Goals.

use serde_json::json;

use crate::{TestAgent as _, Thread};

#[test]
fn a_new_goal_replaces_the_active_one_and_keeps_the_todos() {
    let thread = Thread::new();
    assert_eq!(
        thread.ok("create_goal", &json!({ "goal": "first" })),
        json!({
            "goal": { "id": 1, "goal": "first", "status": "active" },
        })
    );
    thread.ok("add_todo", &json!({ "name": "step" }));
    let (second, text) = thread.answer("create_goal", &json!({ "goal": "second" }));
    assert_eq!(second["replacedGoal"], json!({ "id": 1, "goal": "first", "status": "replaced" }));
    assert_eq!(text, "Goal 2 is set: second\nIt replaces goal 1: first");
    let state = thread.state();
    assert_eq!(state["goal"], "second");
    assert_eq!(state["todos"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_cleared_goal_is_remembered_and_the_todos_stay() {
    let thread = Thread::new();
    thread.ok("create_goal", &json!({ "goal": "reach it" }));
    thread.ok("add_todo", &json!({ "name": "step" }));
    assert_eq!(thread.ok("clear_goal", &json!({}))["goal"]["status"], "cleared");
    let state = thread.state();
    assert_eq!((&state["goal"], &state["lastClearedGoal"]), (&json!(null), &json!("reach it")));
    assert_eq!(state["todos"].as_array().map(Vec::len), Some(1));
    thread.ok("create_goal", &json!({ "goal": "another" }));
    assert_eq!(thread.state()["lastClearedGoal"], "reach it");
}

#[test]
fn clearing_without_a_goal_is_an_error_that_says_what_to_do() {
    let thread = Thread::new();
    let refusal = thread.refused("clear_goal", &json!({}));
    assert_eq!(refusal, "not-found: there is no goal to clear; create_goal sets one");
}

#[test]
fn all_goals_are_listed_the_oldest_first_with_what_became_of_them() {
    let thread = Thread::new();
    assert_eq!(thread.ok("list_goals", &json!({})), json!({ "goals": [], "forgottenGoals": 0 }));
    for goal in ["one", "two", "three"] {
        thread.ok("create_goal", &json!({ "goal": goal }));
    }
    thread.ok("clear_goal", &json!({}));
    let (_, text) = thread.answer("list_goals", &json!({}));
    assert_eq!(text, "1 (replaced): one\n2 (replaced): two\n3 (cleared): three");
}

#[test]
fn a_goal_can_be_reworded_finished_and_taken_up_again() {
    let thread = Thread::new();
    thread.ok("create_goal", &json!({ "goal": "draft" }));
    assert_eq!(thread.ok("update_goal", &json!({ "goal": "better" }))["goal"]["goal"], "better");
    assert_eq!(thread.ok("update_goal", &json!({ "status": "done" }))["goal"]["status"], "done");
    assert_eq!(thread.state()["goal"], json!(null));
    thread.ok("create_goal", &json!({ "goal": "next" }));
    thread.ok("update_goal", &json!({ "id": 1, "status": "active" }));
    assert_eq!(thread.state()["goal"], "better");
    assert_eq!(thread.ok("list_goals", &json!({}))["goals"][1]["status"], "replaced");
}

#[test]
fn a_change_of_no_goal_or_an_unknown_one_lists_the_valid_ids() {
    let thread = Thread::new();
    assert_eq!(
        thread.refused("update_goal", &json!({ "goal": "x" })),
        "not-found: there is no goal yet; create_goal sets one"
    );
    thread.ok("create_goal", &json!({ "goal": "one" }));
    thread.ok("clear_goal", &json!({}));
    assert_eq!(
        thread.refused("update_goal", &json!({ "goal": "x" })),
        "not-found: no goal is active; name an `id`, one of: 1"
    );
    assert_eq!(
        thread.refused("update_goal", &json!({ "id": 7, "goal": "x" })),
        "not-found: there is no goal 7; valid ids: 1"
    );
    assert_eq!(
        thread.refused("update_goal", &json!({ "id": 1 })),
        "invalid: give a new `goal`, a new `status`, or both"
    );
}
