//! What is refused though a host let it through.

use serde_json::json;

use crate::{Agent, TestAgent as _};

#[test]
fn numbers_and_lengths_out_of_range_are_refused_by_name() {
    let (agent, id) = Agent::with_shell();
    for (tool, arguments, expected) in [
        ("start_terminal", json!({ "rows": 201 }), "`rows` is 201; it goes from 1 to 200"),
        ("start_terminal", json!({ "wait_seconds": 61 }), "`wait_seconds` is 61"),
        ("start_terminal", json!({ "program": " " }), "`program` is empty"),
        ("start_terminal", json!({ "directory": "" }), "`directory` is empty"),
        ("send_message", json!({ "terminal_id": "" }), "`terminal_id` is empty"),
        ("send_message", json!({ "terminal_id": id, "text": "x".repeat(100_001) }), "`text` has 100001 characters"),
        ("send_message", json!({ "terminal_id": id, "text": "a", "wait_seconds": 601 }), "`wait_seconds` is 601"),
        ("send_message", json!({ "terminal_id": id, "text": "a", "quiet_seconds": 0 }), "`quiet_seconds` is 0"),
        ("send_message", json!({ "terminal_id": id, "text": "a", "prompt": "" }), "`prompt` is empty"),
        ("send_message", json!({ "terminal_id": id, "submit": false }), "nothing to send"),
        ("send_message", json!({ "terminal_id": id, "text": "a", "keys": ["Up"] }), "not both"),
        ("send_keys", json!({ "terminal_id": id, "keys": [] }), "`keys` is 0; it goes from 1 to 100"),
        ("send_keys", json!({ "terminal_id": id, "keys": [""] }), "`keys` is empty"),
        ("send_keys", json!({ "terminal_id": id, "keys": ["a"], "wait_seconds": 31 }), "`wait_seconds` is 31"),
        ("read_screen", json!({ "terminal_id": id, "history_lines": 1_001 }), "`history_lines` is 1001"),
        ("read_output", json!({ "terminal_id": id, "max_bytes": 63 }), "`max_bytes` is 63"),
        ("close_terminal", json!({ "terminal_id": id, "grace_seconds": 61 }), "`grace_seconds` is 61"),
    ] {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.starts_with("invalid") && refused.contains(expected), "{tool} {arguments}: {refused}");
    }
    assert_eq!(agent.0.typed(&id), [""; 0]);
}

#[test]
fn a_control_character_in_a_text_is_refused_by_the_host() {
    let (agent, id) = Agent::with_shell();
    let refused = agent.refused("send_message", &json!({ "terminal_id": id, "text": "a\u{3}" }));
    assert!(refused.starts_with("invalid") && refused.contains("send it as a key"), "{refused}");
}
