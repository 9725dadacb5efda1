//! What is said of a plan that is gone, and of one that cannot be read.

use serde_json::json;
use wharf_sdk::{Change, Scope};

use crate::{TestAgent as _, Thread};

const NOTICE: &str = "The earlier plan of this thread expired at 2026-01-01T00:00:00Z because nobody used it for long; \
                      this starts anew.";

#[test]
fn the_first_answer_after_an_expiry_says_so_and_the_next_one_does_not() {
    for (tool, arguments) in [
        ("create_goal", json!({ "goal": "again" })),
        ("add_todo", json!({ "name": "again" })),
        ("add_memo", json!({ "memo": "again" })),
        ("clear_todos", json!({})),
        (
            "sequentialthinking",
            json!({
                "thought": "again", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1,
            }),
        ),
    ] {
        let thread = Thread::new();
        thread.ok("create_goal", &json!({ "goal": "before" }));
        thread.0.expire(Scope::Thread);
        let (structured, text) = thread.answer(tool, &arguments);
        assert_eq!(structured["notice"], NOTICE, "{tool}");
        assert!(text.starts_with(NOTICE), "{text}");
        assert_eq!(thread.ok("create_goal", &json!({ "goal": "next" })).get("notice"), None, "{tool}");
    }
}

#[test]
fn looking_after_an_expiry_says_so_and_leaves_the_notice_for_the_next_look() {
    let thread = Thread::new();
    assert_eq!(thread.state().get("notice"), None);
    thread.ok("create_goal", &json!({ "goal": "before" }));
    thread.0.expire(Scope::Thread);
    assert_eq!(thread.state()["notice"], NOTICE);
    assert_eq!(thread.ok("list_goals", &json!({}))["notice"], NOTICE);
}

#[test]
fn a_model_that_names_an_expired_todo_learns_why_it_is_gone() {
    let thread = Thread::new();
    thread.ok("add_todo", &json!({ "name": "before" }));
    thread.0.expire(Scope::Thread);
    let refusal = thread.refused("mark_todo", &json!({ "id": 1 }));
    assert!(refusal.starts_with("not-found: there is no todo 1") && refusal.ends_with(NOTICE), "{refusal}");
}

#[test]
fn without_a_grant_every_tool_says_what_is_missing() {
    let thread = Thread(Thread::new().0.without_state());
    assert!(thread.refused("add_todo", &json!({ "name": "x" })).starts_with("denied: state is not granted"));
}

fn write_raw(thread: &Thread, key: &str, value: &str) {
    let call = thread.0.call();
    let bucket = call.state(Scope::Thread, "planning").expect("state is granted");
    bucket.apply(vec![Change::put(key, value)]).expect("the key is legal");
}

#[test]
fn what_a_newer_version_wrote_is_left_alone_until_the_session_is_cleared() {
    let thread = Thread::new();
    write_raw(&thread, "todos", r#"{"version":2,"content":{"lists":[]}}"#);
    for (tool, arguments) in [("add_todo", json!({ "name": "x" })), ("get_current_state", json!({}))] {
        let refusal = thread.refused(tool, &arguments);
        assert!(refusal.starts_with("unavailable: this thread was written by a newer planning plugin"), "{refusal}");
    }
    thread.ok("clear_session", &json!({}));
    thread.ok("add_todo", &json!({ "name": "x" }));
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_way_out() {
    for broken in ["not JSON", "{}", r#"{"version":1,"content":{"todos":7}}"#] {
        let thread = Thread::new();
        write_raw(&thread, "todos", broken);
        write_raw(&thread, "thinking", broken);
        write_raw(&thread, "thought/07", broken);
        let refusal = thread.refused("add_todo", &json!({ "name": "x" }));
        assert!(refusal.starts_with("internal: ") && refusal.ends_with("clear_session starts over"), "{refusal}");
        thread.ok("clear_session", &json!({}));
        assert_eq!(thread.ok("get_current_state", &json!({ "recentThoughts": 10 }))["todos"], json!([]));
        let usage = thread.0.call().state(Scope::Thread, "planning").and_then(|bucket| bucket.usage());
        assert_eq!(usage.expect("state is granted").entries, 0, "nothing unreadable stays");
    }
}
