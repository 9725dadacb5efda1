//! The screen, the output, keys and sizes.

use serde_json::json;

use crate::{Agent, TestAgent as _};

#[test]
fn the_screen_shows_its_last_lines_with_the_cursor_and_what_went_off_the_top() {
    let agent = Agent::new();
    let id = agent.id(&json!({ "rows": 3 }));
    agent.send(&id, "ls");
    let (screen, text) = agent.answer("read_screen", &json!({ "terminal_id": id, "history_lines": 1 }));
    assert_eq!(screen["screen"], json!(["a", "b", "$"]));
    assert_eq!(screen["history"], json!(["$ ls"]));
    assert_eq!((&screen["cursor_row"], &screen["cursor_column"]), (&json!(3), &json!(3)));
    assert_eq!(text, "Above it:\n$ ls\nThe screen (80x3, cursor in row 3, column 3):\na\nb\n$");
}

#[test]
fn output_is_read_by_cursor_or_from_its_end() {
    let (agent, id) = Agent::with_shell();
    agent.send(&id, "seq 20000");
    let (last, text) = agent.answer("read_output", &json!({ "terminal_id": id, "max_bytes": 64 }));
    assert!(last["text"].as_str().is_some_and(|text| text.ends_with("19999\n20000\n")), "{last}");
    assert_eq!((&last["has_more"], &last["next_cursor"]), (&json!(false), &last["total_bytes"]));
    assert!(!text.contains("go on"), "{text}");
    let (first, text) = agent.answer("read_output", &json!({ "terminal_id": id, "cursor": 0, "max_bytes": 64 }));
    assert_eq!(
        (&first["start_cursor"], &first["next_cursor"], &first["has_more"]),
        (&json!(0), &json!(64), &json!(true))
    );
    assert!(text.contains("go on with cursor 64\n$ seq 20000\n1\n2\n"), "{text}");
    let beyond = agent.ok("read_output", &json!({ "terminal_id": id, "cursor": 999_999 }));
    assert_eq!(beyond["text"], "");
}

#[test]
fn keys_are_pressed_and_the_screen_answers() {
    let (agent, id) = Agent::with_shell();
    let (pressed, text) = agent.answer("send_keys", &json!({ "terminal_id": id, "keys": ["Up", " ", "C-a"] }));
    assert_eq!((&pressed["turn_running"], &pressed["screen"]), (&json!(false), &json!(["$"])));
    assert_eq!(text, "ready\nThe screen (80x24, cursor in row 1, column 3):\n$");
    assert_eq!(agent.0.typed(&id), ["Up", " ", "C-a"]);
}

#[test]
fn a_size_is_changed_within_the_limits() {
    let (agent, id) = Agent::with_shell();
    let (_, text) = agent.answer("resize", &json!({ "terminal_id": id, "columns": 132, "rows": 50 }));
    assert_eq!(text, "The terminal is 132x50 now.");
    assert_eq!(agent.ok("read_screen", &json!({ "terminal_id": id }))["columns"], 132);
    let refused = agent.refused("resize", &json!({ "terminal_id": id, "columns": 0, "rows": 50 }));
    assert!(refused.contains("`columns` is 0; it goes from 1 to 500"), "{refused}");
}
