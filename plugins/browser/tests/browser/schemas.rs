//! What a model sees of the tools before it calls one.

use serde_json::json;
use wharf_plugin_browser::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::check_definitions;

use crate::accepts;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "create_session",
            "close_session",
            "list_sessions",
            "navigate",
            "back",
            "forward",
            "reload",
            "get_page_content",
            "get_snapshot",
            "click",
            "type_text",
            "fill",
            "select_option",
            "press_key",
            "hover",
            "scroll",
            "wait_for",
            "evaluate",
            "get_element",
            "list_interactable",
            "screenshot",
            "pdf",
            "get_console",
            "get_network",
            "handle_dialog",
            "upload_file",
            "list_downloads",
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
        let reads = name.starts_with("get_") || name.starts_with("list_") || matches!(name, "wait_for" | "screenshot");
        let acts = matches!(
            name,
            "click"
                | "type_text"
                | "fill"
                | "select_option"
                | "press_key"
                | "evaluate"
                | "handle_dialog"
                | "upload_file"
        );
        let moves = matches!(name, "navigate" | "back" | "forward" | "reload" | "hover");
        assert_eq!(details.read_only, reads, "{name}");
        assert_eq!(details.destructive, acts || name == "close_session", "{name}");
        assert_eq!(details.open_world, acts || moves, "{name}");
        assert!(definition.description.len() < 1_024, "{name}: {}", definition.description.len());
    }
}

#[test]
fn what_makes_no_sense_never_comes_through() {
    for (tool, arguments) in [
        ("create_session", json!({ "width": 0 })),
        ("create_session", json!({ "dialogs": "ignore" })),
        ("navigate", json!({})),
        ("navigate", json!({ "url": "" })),
        ("get_page_content", json!({ "format": "pdf" })),
        ("get_snapshot", json!({ "max_bytes": 200_000 })),
        ("click", json!({ "element": "" })),
        ("click", json!({ "element": "#a", "button": "fourth" })),
        ("fill", json!({ "fields": [] })),
        ("fill", json!({ "fields": [{ "element": "#a" }] })),
        ("fill", json!({ "element": "#a", "value": "b" })),
        ("wait_for", json!({ "text": "a", "timeout_seconds": 121 })),
        ("handle_dialog", json!({})),
        ("upload_file", json!({ "element": "#a", "paths": [] })),
    ] {
        assert!(!accepts(tool, &arguments), "{tool} {arguments}");
    }
    assert!(accepts("click", &json!({ "element": "k3e12", "double": true, "modifiers": ["Shift"], "snapshot": true })));
    assert!(accepts(
        "fill",
        &json!({ "fields": [{ "element": "#a", "value": "b" }, { "element": "text=C", "value": "" }] })
    ));
}
