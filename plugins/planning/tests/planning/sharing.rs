//! Who sees what, and what happens when several change it at once.

use std::collections::BTreeSet;

use serde_json::json;
use wharf_planning::WharfPlugin;

use crate::{TestAgent as _, Thread};

#[test]
fn threads_assistants_and_sessions_never_see_each_other() {
    let here = Thread::new();
    here.ok("create_goal", &json!({ "goal": "mine" }));
    here.ok("add_todo", &json!({ "name": "mine" }));
    here.ok("add_memo", &json!({ "memo": "mine" }));
    let others = [
        Thread(here.0.clone().thread("other")),
        Thread(here.0.clone().assistant("other")),
        Thread(here.0.clone().session("other")),
    ];
    for other in &others {
        let state = other.state();
        assert_eq!((&state["goal"], &state["todos"], &state["memos"]), (&json!(null), &json!([]), &json!([])));
        assert_eq!(other.ok("add_todo", &json!({ "name": "theirs" }))["todo"]["id"], 1);
        other.ok("clear_session", &json!({}));
    }
    assert_eq!(here.state()["todos"][0]["name"], "mine");
}

#[test]
fn clearing_the_session_takes_all_of_it_and_ids_go_on() {
    let thread = Thread::new();
    thread.ok("create_goal", &json!({ "goal": "a" }));
    thread.ok("create_goal", &json!({ "goal": "b" }));
    thread.ok("clear_goal", &json!({}));
    thread.ok("add_todo", &json!({ "name": "a" }));
    thread.ok("add_memo", &json!({ "memo": "a" }));
    for number in 1..=3 {
        let thought = json!({ "thought": "a", "nextThoughtNeeded": true, "thoughtNumber": number, "totalThoughts": 3 });
        thread.ok("sequentialthinking", &thought);
    }
    let (cleared, text) = thread.answer("clear_session", &json!({}));
    assert_eq!(cleared, json!({ "goals": 2, "todos": 1, "memos": 1, "thoughts": 3 }));
    assert_eq!(text, "Everything is cleared: 2 goals, 1 todos, 1 memos, 3 thoughts.");
    assert_eq!(
        thread.ok("get_current_state", &json!({ "recentThoughts": 10 })),
        json!({ "goal": null, "lastClearedGoal": null, "todos": [], "memos": [], "thoughtHistoryLength": 0 })
    );
    assert_eq!(thread.ok("create_goal", &json!({ "goal": "c" }))["goal"]["id"], 3);
    assert_eq!(thread.ok("add_todo", &json!({ "name": "b" }))["todo"]["id"], 2);
    assert_eq!(thread.ok("add_memo", &json!({ "memo": "b" }))["memo"]["id"], 2);
}

#[test]
fn clearing_a_session_that_is_empty_is_no_error_and_stores_nothing() {
    let thread = Thread::new();
    thread.ok("clear_session", &json!({}));
    let usage = thread.0.call().state(wharf_sdk::Scope::Thread, "planning").and_then(|bucket| bucket.usage());
    assert_eq!(usage.expect("state is granted").entries, 0);
}

#[test]
fn calls_at_the_same_time_lose_nothing_and_share_no_id() {
    let thread = Thread::new();
    let ids: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let thread = thread.clone();
                scope.spawn(move || {
                    let add = |step| {
                        let added = thread.ok("add_todo", &json!({ "name": format!("{worker}/{step}") }));
                        added["todo"]["id"].as_u64().expect("an id")
                    };
                    (0..25).map(add).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    assert_eq!(ids.iter().copied().collect::<BTreeSet<_>>(), (1..=200).collect());
    assert_eq!(thread.state()["todos"].as_array().map(Vec::len), Some(200));
}

#[test]
fn a_plan_reads_like_a_plan() {
    let thread = Thread::new();
    thread.ok("create_goal", &json!({ "goal": "Build a shed" }));
    thread.ok("add_todo", &json!({ "name": "Measure", "priority": "high" }));
    thread.ok("add_todo", &json!({ "name": "Buy wood" }));
    thread.ok("mark_todo", &json!({ "id": 1, "summary": "3 by 4 m" }));
    thread.ok("add_memo", &json!({ "memo": "The shop closes at 6" }));
    let text = thread.0.run::<WharfPlugin>("get_current_state", &json!({})).as_text();
    assert_eq!(
        text,
        "Goal: Build a shed\nTodos: 2\n  [x] 1 (high): Measure - 3 by 4 m\n  [ ] 2: Buy wood\nMemos: 1\n  1: The shop closes \
         at 6\nThoughts: 0"
    );
}
