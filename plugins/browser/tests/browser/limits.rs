//! What is refused though a host let it through.

use serde_json::json;

use crate::{Agent, TestAgent as _};

#[test]
fn numbers_and_lengths_out_of_range_are_refused_by_name() {
    let agent = Agent::at_the_shop();
    for (tool, arguments, expected) in [
        ("create_session", json!({ "width": 4_097 }), "`width` is 4097; it goes from 1 to 4096"),
        ("create_session", json!({ "locale": "" }), "`locale` is empty"),
        ("navigate", json!({ "url": " " }), "`url` is empty"),
        ("navigate", json!({ "url": "a", "timeout_seconds": 0 }), "`timeout_seconds` is 0"),
        ("back", json!({ "session": "" }), "`session` is empty"),
        ("get_page_content", json!({ "max_bytes": 499 }), "`max_bytes` is 499"),
        ("get_snapshot", json!({ "cursor": "x".repeat(257) }), "`cursor` has 257 characters"),
        ("click", json!({ "element": " " }), "`element` is empty"),
        ("type_text", json!({ "text": "" }), "nothing to type"),
        ("type_text", json!({ "text": "x".repeat(501), "key_by_key": true }), "`text` has 501 characters"),
        ("fill", json!({ "fields": [] }), "`fields` is 0; it goes from 1 to 50"),
        ("select_option", json!({ "element": "#a", "options": [] }), "`options` is 0"),
        ("press_key", json!({ "key": "Hyper+x" }), "`Hyper` is no key that is held"),
        ("scroll", json!({}), "give a `direction`"),
        ("scroll", json!({ "direction": "up", "screens": 101 }), "`screens` is 101"),
        ("wait_for", json!({}), "give one of"),
        ("wait_for", json!({ "text": "a", "url": "b" }), "give one of"),
        ("wait_for", json!({ "network_idle": true, "gone": true }), "makes no sense"),
        ("evaluate", json!({}), "give a `script`"),
        ("evaluate", json!({ "cursor": "x" }), "no cursor"),
        ("screenshot", json!({ "element": "#a", "full_page": true }), "not both"),
        ("get_console", json!({ "max_entries": 201 }), "`max_entries` is 201"),
        ("list_downloads", json!({ "wait_seconds": 121 }), "`wait_seconds` is 121"),
        ("upload_file", json!({ "element": "#a", "paths": [""] }), "`paths` is empty"),
    ] {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.starts_with("invalid") && refused.contains(expected), "{tool} {arguments}: {refused}");
    }
}
