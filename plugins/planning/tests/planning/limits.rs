//! What is too much, and what makes no sense.

use serde_json::{Value, json};

use crate::{TestAgent as _, Thread, accepts};

/// Tool, its text argument, how many characters that may have, and the rest.
fn texts() -> Vec<(&'static str, &'static str, usize, Value)> {
    let thought = json!({ "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    let mut branch = thought.clone();
    branch["thought"] = json!("x");
    branch["branchFromThought"] = json!(1);
    vec![
        ("create_goal", "goal", 1_000, json!({})),
        ("update_goal", "goal", 1_000, json!({})),
        ("add_todo", "name", 500, json!({})),
        ("update_todo", "name", 500, json!({ "id": 1 })),
        ("add_memo", "memo", 2_000, json!({})),
        ("sequentialthinking", "thought", 8_000, thought),
        ("sequentialthinking", "branchId", 100, branch),
    ]
}

fn ready() -> Thread {
    let thread = Thread::new();
    thread.ok("create_goal", &json!({ "goal": "goal" }));
    thread.ok("add_todo", &json!({ "name": "todo" }));
    thread
}

#[test]
fn a_text_has_as_many_characters_as_it_may_and_not_one_more() {
    for (tool, field, longest, rest) in texts() {
        let thread = ready();
        let mut arguments = rest;
        arguments[field] = json!("가".repeat(longest));
        thread.ok(tool, &arguments);
        arguments[field] = json!("가".repeat(longest + 1));
        assert!(!accepts(tool, &arguments), "the schema of {tool} lets a longer `{field}` through");
        let refusal = thread.refused(tool, &arguments);
        assert_eq!(refusal, format!("invalid: `{field}` has {} characters; at most {longest} are kept", longest + 1));
    }
}

#[test]
fn a_text_that_says_nothing_is_refused() {
    for (tool, field, longest, rest) in texts() {
        for nothing in ["", " \n\t"] {
            let mut arguments = rest.clone();
            arguments[field] = json!(nothing);
            let refusal = ready().refused(tool, &arguments);
            assert_eq!(refusal, format!("invalid: `{field}` is empty; it needs 1 to {longest} characters"));
        }
    }
}

#[test]
fn a_summary_has_at_most_a_thousand_characters() {
    for tool in ["mark_todo", "update_todo"] {
        let thread = ready();
        thread.ok(tool, &json!({ "id": 1, "summary": "x".repeat(1_000) }));
        let longer = json!({ "id": 1, "summary": "x".repeat(1_001) });
        assert!(!accepts(tool, &longer));
        assert!(thread.refused(tool, &longer).starts_with("invalid: `summary` has 1001 characters"));
    }
}

#[test]
fn five_hundred_todos_fit_and_another_one_says_what_makes_room() {
    let thread = Thread::new();
    for number in 1..=500 {
        thread.ok("add_todo", &json!({ "name": format!("todo {number}") }));
    }
    let refusal = thread.refused("add_todo", &json!({ "name": "one more" }));
    assert!(refusal.starts_with("limit: this thread has 500 todos"), "{refusal}");
    assert!(refusal.contains("clear_todos"), "{refusal}");
    thread.ok("clear_todos", &json!({ "ids": [7] }));
    assert_eq!(thread.ok("add_todo", &json!({ "name": "fits again" }))["todo"]["id"], 501);
}

#[test]
fn todos_of_the_longest_texts_stop_at_their_size_and_still_can_be_marked_and_cleared() {
    let thread = Thread::new();
    let name = "가".repeat(500);
    let refusal = (1..=500).find_map(|_| {
        let answer = thread.0.run::<wharf_planning::WharfPlugin>("add_todo", &json!({ "name": name }));
        answer.is_error.then(|| answer.as_text())
    });
    let refusal = refusal.expect("500 such todos have more than 256 KiB");
    assert!(refusal.starts_with("limit: the todos of this thread would take"), "{refusal}");
    thread.ok("mark_todo", &json!({ "id": 1 }));
    let state = thread.0.run::<wharf_planning::WharfPlugin>("get_current_state", &json!({}));
    let size = state.as_text().len() + state.structured.map_or(0, |structured| structured.len());
    assert!(size < 1_000_000, "an overview of {size} bytes exceeds what a call may answer");
    assert!(state.content[0].data.ends_with("… cut here; the structured answer has all of it.".as_bytes()));
    thread.ok("clear_todos", &json!({}));
    thread.ok("add_todo", &json!({ "name": name }));
}

#[test]
fn the_list_of_goals_keeps_the_youngest_and_counts_the_others() {
    let thread = Thread::new();
    for number in 1..=53 {
        thread.ok("create_goal", &json!({ "goal": format!("goal {number}") }));
    }
    let goals = thread.ok("list_goals", &json!({}));
    assert_eq!((goals["goals"].as_array().map(Vec::len), &goals["forgottenGoals"]), (Some(50), &json!(3)));
    assert_eq!((&goals["goals"][0]["id"], &goals["goals"][49]["id"]), (&json!(4), &json!(53)));
}

#[test]
fn an_active_goal_is_never_the_one_that_is_forgotten() {
    let thread = Thread::new();
    for number in 1..=50 {
        thread.ok("create_goal", &json!({ "goal": format!("goal {number}") }));
    }
    thread.ok("update_goal", &json!({ "id": 1, "status": "active" }));
    let created = thread.ok("create_goal", &json!({ "goal": "goal 51" }));
    assert_eq!(created["replacedGoal"]["id"], 1);
    assert_eq!(thread.state()["goal"], "goal 51");
}

#[test]
fn arguments_of_another_shape_are_errors_that_change_nothing() {
    let thread = ready();
    let before = thread.state();
    for (tool, arguments) in [
        ("create_goal", json!({})),
        ("create_goal", json!({ "goal": 7 })),
        ("create_goal", json!({ "goal": "x", "session": "other" })),
        ("clear_goal", json!({ "id": 1 })),
        ("mark_todo", json!({ "id": "1" })),
        ("mark_todo", json!({ "id": -1 })),
        ("mark_todo", json!({ "id": 1.5 })),
        ("mark_todo", json!({ "id": 1, "completed": "yes" })),
        ("update_todo", json!({ "id": 1, "status": "finished" })),
        ("update_todo", json!({ "id": 1, "priority": "urgent" })),
        ("update_goal", json!({ "status": "cleared" })),
        ("clear_todos", json!({ "ids": "all" })),
        ("add_memo", json!([])),
        ("sequentialthinking", json!({ "thought": "x", "thoughtNumber": 1, "totalThoughts": 1 })),
    ] {
        assert!(!accepts(tool, &arguments), "the schema of {tool} lets {arguments} through");
        let refusal = thread.refused(tool, &arguments);
        assert!(refusal.starts_with("invalid: the arguments do not fit this tool"), "{refusal}");
    }
    assert_eq!(thread.state(), before);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let thread = ready();
    let thought = |number: u32, total: u32| json!({ "thought": "x", "nextThoughtNeeded": false, "thoughtNumber": number, "totalThoughts": total });
    for (tool, arguments) in [
        ("sequentialthinking", thought(0, 1)),
        ("sequentialthinking", thought(1, 0)),
        ("sequentialthinking", thought(100_001, 1)),
        ("get_current_state", json!({ "recentThoughts": 11 })),
    ] {
        assert!(!accepts(tool, &arguments), "the schema of {tool} lets {arguments} through");
        assert!(thread.refused(tool, &arguments).starts_with("invalid: "));
    }
    assert!(!accepts("mark_todo", &json!({ "id": 0 })));
    assert!(thread.refused("mark_todo", &json!({ "id": 0 })).starts_with("not-found: "));
}
