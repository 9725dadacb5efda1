//! What a model sees of the tools before it calls one.

use serde_json::json;
use wharf_plugin_terminal::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::check_definitions;

use crate::accepts;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "start_terminal",
            "send_message",
            "wait_for_turn",
            "cancel_turn",
            "send_keys",
            "read_screen",
            "read_output",
            "resize",
            "list_terminals",
            "close_terminal",
        ]
    );
}

#[test]
fn every_tool_says_all_that_a_model_needs() {
    check_definitions::<WharfPlugin>();
}

#[test]
fn what_a_client_is_told_of_a_tool_fits_what_it_does() {
    for definition in WharfPlugin::definitions() {
        let (name, details) = (definition.name, definition.details);
        let types = matches!(name, "start_terminal" | "send_message" | "send_keys");
        let reads = matches!(name, "wait_for_turn" | "read_screen" | "read_output" | "list_terminals");
        assert_eq!(details.read_only, reads, "{name}");
        assert_eq!(details.destructive, types || name == "close_terminal", "{name}");
        assert_eq!(details.open_world, types, "{name}");
        assert!(definition.description.len() < 1_024, "{name}: {}", definition.description.len());
    }
}

#[test]
fn what_makes_no_sense_never_comes_through() {
    for (tool, arguments) in [
        ("start_terminal", json!({ "columns": 501 })),
        ("start_terminal", json!({ "preset": "fast" })),
        ("start_terminal", json!({ "profile": "" })),
        ("start_terminal", json!({ "program": "" })),
        ("send_message", json!({ "text": "ls" })),
        ("send_message", json!({ "terminal_id": "t", "text": "x".repeat(100_001) })),
        ("send_message", json!({ "terminal_id": "t", "text": "ls", "wait_seconds": 601 })),
        ("send_keys", json!({ "terminal_id": "t", "keys": [] })),
        ("send_keys", json!({ "terminal_id": "t", "keys": "C-c" })),
        ("read_output", json!({ "terminal_id": "t", "max_bytes": 16_385 })),
        ("resize", json!({ "terminal_id": "t", "columns": 80 })),
        ("close_terminal", json!({ "terminal_id": "t", "signal": "kill" })),
    ] {
        assert!(!accepts(tool, &arguments), "{tool} {arguments}");
    }
    assert!(accepts("start_terminal", &json!({ "program": "python3", "arguments": ["-q"], "preset": "repl" })));
    assert!(accepts(
        "send_message",
        &json!({ "terminal_id": "t", "keys": ["Down", "Enter"], "preset": "simple-answer" })
    ));
}
