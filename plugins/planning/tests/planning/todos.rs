//! Todos.

use serde_json::json;

use crate::{TestAgent as _, Thread};

#[test]
fn todos_count_from_one_and_need_no_goal() {
    let thread = Thread::new();
    let (added, text) = thread.answer("add_todo", &json!({ "name": "measure" }));
    assert_eq!(
        added,
        json!({
            "todo": { "id": 1, "name": "measure", "status": "pending", "priority": "normal" }, "pending": 1, "total": 1,
        })
    );
    assert_eq!(text, "Added [ ] 1: measure\n1 of 1 todos are pending.");
    assert_eq!(thread.ok("add_todo", &json!({ "name": "cut", "priority": "high" }))["todo"]["id"], 2);
}

#[test]
fn a_todo_is_marked_done_with_a_summary_and_pending_again() {
    let thread = Thread::new();
    thread.ok("add_todo", &json!({ "name": "measure" }));
    let (marked, text) = thread.answer("mark_todo", &json!({ "id": 1, "summary": "12 cm" }));
    assert_eq!((&marked["todo"]["status"], &marked["pending"]), (&json!("done"), &json!(0)));
    assert_eq!(text, "Changed [x] 1: measure - 12 cm\n0 of 1 todos are pending.");
    assert_eq!(thread.ok("mark_todo", &json!({ "id": 1, "completed": false }))["todo"]["status"], "pending");
}

#[test]
fn leaving_the_summary_out_keeps_it_and_an_empty_one_erases_it() {
    let thread = Thread::new();
    thread.ok("add_todo", &json!({ "name": "measure" }));
    thread.ok("mark_todo", &json!({ "id": 1, "summary": "12 cm" }));
    assert_eq!(thread.ok("mark_todo", &json!({ "id": 1 }))["todo"]["summary"], "12 cm");
    assert_eq!(thread.ok("mark_todo", &json!({ "id": 1, "summary": "" }))["todo"].get("summary"), None);
}

#[test]
fn an_unknown_id_is_an_error_that_lists_the_valid_ones() {
    let thread = Thread::new();
    assert_eq!(
        thread.refused("mark_todo", &json!({ "id": 1 })),
        "not-found: there is no todo 1: there are none; add_todo adds one"
    );
    for name in ["a", "b", "c"] {
        thread.ok("add_todo", &json!({ "name": name }));
    }
    thread.ok("clear_todos", &json!({ "ids": [2] }));
    for (tool, arguments) in [
        ("mark_todo", json!({ "id": 2 })),
        ("update_todo", json!({ "id": 2, "name": "x" })),
        ("clear_todos", json!({ "ids": [1, 2] })),
    ] {
        assert_eq!(thread.refused(tool, &arguments), "not-found: there is no todo 2; valid ids: 1, 3");
    }
    assert_eq!(thread.state()["todos"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_todo_can_be_reworded_cancelled_and_weighed() {
    let thread = Thread::new();
    thread.ok("add_todo", &json!({ "name": "measure" }));
    let changed = thread.ok("update_todo", &json!({ "id": 1, "name": "weigh", "priority": "low" }));
    assert_eq!(changed["todo"], json!({ "id": 1, "name": "weigh", "status": "pending", "priority": "low" }));
    let (cancelled, text) = thread.answer("update_todo", &json!({ "id": 1, "status": "cancelled" }));
    assert_eq!((&cancelled["todo"]["name"], &cancelled["pending"]), (&json!("weigh"), &json!(0)));
    assert!(text.starts_with("Changed [-] 1 (low): weigh"), "{text}");
    assert!(thread.refused("update_todo", &json!({ "id": 1 })).starts_with("invalid: name a change"));
}

#[test]
fn clearing_without_ids_or_with_none_takes_all_and_ids_go_on() {
    for all in [json!({}), json!({ "ids": [] }), json!({ "ids": null })] {
        let thread = Thread::new();
        thread.ok("add_todo", &json!({ "name": "a" }));
        thread.ok("add_todo", &json!({ "name": "b" }));
        assert_eq!(thread.ok("clear_todos", &all), json!({ "cleared": [1, 2], "remaining": 0 }));
        assert_eq!(thread.ok("clear_todos", &all), json!({ "cleared": [], "remaining": 0 }));
        assert_eq!(thread.ok("add_todo", &json!({ "name": "c" }))["todo"]["id"], 3);
    }
}

#[test]
fn clearing_some_leaves_the_others() {
    let thread = Thread::new();
    for name in ["a", "b", "c"] {
        thread.ok("add_todo", &json!({ "name": name }));
    }
    assert_eq!(thread.ok("clear_todos", &json!({ "ids": [3, 1, 1] })), json!({ "cleared": [1, 3], "remaining": 1 }));
    assert_eq!(thread.state()["todos"][0]["name"], "b");
}

#[test]
fn whole_numbers_written_as_fractions_are_taken_for_what_they_are() {
    let thread = Thread::new();
    thread.ok("add_todo", &json!({ "name": "a" }));
    assert_eq!(thread.ok("mark_todo", &json!({ "id": 1.0 }))["todo"]["status"], "done");
}
