//! Starting, listing and closing terminals.

use serde_json::json;
use wharf_plugin_terminal::WharfPlugin;
use wharf_sdk::testing::TestCall;

use crate::{Agent, TestAgent as _};

#[test]
fn a_program_is_started_and_what_it_says_first_is_shown() {
    let agent = Agent::new();
    let (started, text) = agent.answer("start_terminal", &json!({ "program": "python3", "arguments": ["-q"] }));
    assert_eq!((&started["command"], &started["text"]), (&json!("python3 -q"), &json!("Python 3\n>>> ")));
    assert_eq!((&started["columns"], &started["next_cursor"]), (&json!(80), &json!(13)));
    assert_eq!(text, "terminal_id terminal-1: python3 -q; ready\nPython 3\n>>>");
}

#[test]
fn another_terminal_takes_the_place_of_the_first_and_says_so() {
    let (agent, shell) = Agent::with_shell();
    let (started, text) = agent.answer("start_terminal", &json!({ "program": "python3", "columns": 120, "rows": 40 }));
    assert_eq!(started["replaced"], json!([shell]));
    assert!(text.contains("Closed to make room for it: terminal-1."), "{text}");
    let listed = agent.ok("list_terminals", &json!({}));
    assert_eq!(
        (&listed["open"], &listed["closed"], &listed["terminals"][0]["columns"]),
        (&json!(1), &json!(1), &json!(120))
    );
    let (all, text) = agent.answer("list_terminals", &json!({ "include_closed": true }));
    assert_eq!(all["terminals"][1]["ended_because"], "replaced");
    assert!(text.contains("Here the shell, python3 may be started, without a network."), "{text}");
    assert!(text.contains("one terminal at a time"), "{text}");
}

#[test]
fn without_the_grant_every_tool_is_denied_with_the_line_that_grants_it() {
    let call = TestCall::new();
    for (tool, arguments) in [
        ("start_terminal", json!({})),
        ("send_message", json!({ "terminal_id": "t", "text": "ls" })),
        ("wait_for_turn", json!({ "terminal_id": "t" })),
        ("cancel_turn", json!({ "terminal_id": "t" })),
        ("send_keys", json!({ "terminal_id": "t", "keys": ["C-c"] })),
        ("read_screen", json!({ "terminal_id": "t" })),
        ("read_output", json!({ "terminal_id": "t" })),
        ("resize", json!({ "terminal_id": "t", "columns": 80, "rows": 24 })),
        ("list_terminals", json!({})),
        ("close_terminal", json!({ "terminal_id": "t" })),
    ] {
        let refused = call.expect_refusal::<WharfPlugin>(tool, &arguments);
        assert!(refused.starts_with("denied") && refused.contains("grants.terminal"), "{tool}: {refused}");
    }
}

#[test]
fn a_terminal_of_another_session_or_assistant_is_none() {
    let (agent, id) = Agent::with_shell();
    for other in [agent.0.clone().session("other"), agent.0.clone().assistant("other")] {
        let refused = other.expect_refusal::<WharfPlugin>("read_screen", &json!({ "terminal_id": id }));
        assert!(refused.starts_with("not-found") && refused.contains("list_terminals"), "{refused}");
    }
}

#[test]
fn a_closed_terminal_says_how_it_ended_and_can_be_read() {
    let (agent, id) = Agent::with_shell();
    agent.send(&id, "ls");
    let (closed, text) = agent.answer("close_terminal", &json!({ "terminal_id": id }));
    assert_eq!((&closed["status"], &closed["ended_because"]), (&json!("closed"), &json!("owner")));
    assert_eq!(text, "terminal-1: closed (owner)");
    let read = agent.ok("read_output", &json!({ "terminal_id": id }));
    assert_eq!(read["text"], "$ ls\na\nb\n$ ");
    let refused = agent.refused("send_message", &json!({ "terminal_id": id, "text": "ls" }));
    assert!(refused.starts_with("gone") && refused.contains("start_terminal"), "{refused}");
}

#[test]
fn what_may_not_be_started_is_refused_with_a_reason() {
    let agent = Agent::new();
    let refused = agent.refused("start_terminal", &json!({ "program": "vim" }));
    assert!(refused.starts_with("denied") && refused.contains("`vim`"), "{refused}");
    let refused = agent.refused("start_terminal", &json!({ "arguments": ["-l"] }));
    assert!(refused.contains("`arguments` need a `program`"), "{refused}");
    let empty = agent.ok("list_terminals", &json!({}));
    assert_eq!(empty["open"], 0);
}
