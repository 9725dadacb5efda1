//! Web pages.

use serde_json::json;

use super::{AsUnknown, Case, OwnAlone};

pub(super) fn cases() -> Vec<Case> {
    let page = json!("$page");
    let element = json!("$element");
    vec![
        ("browser__close_session", json!({"session": page}), AsUnknown),
        ("browser__navigate", json!({"session": page, "url": "about:blank"}), AsUnknown),
        ("browser__back", json!({"session": page}), AsUnknown),
        ("browser__forward", json!({"session": page}), AsUnknown),
        ("browser__reload", json!({"session": page}), AsUnknown),
        ("browser__click", json!({"session": page, "element": element}), AsUnknown),
        ("browser__hover", json!({"session": page, "element": element}), AsUnknown),
        ("browser__scroll", json!({"session": page, "direction": "down"}), AsUnknown),
        ("browser__type_text", json!({"session": page, "text": "mine", "element": element}), AsUnknown),
        ("browser__press_key", json!({"session": page, "key": "Enter"}), AsUnknown),
        ("browser__fill", json!({"session": page, "fields": [{"element": element, "value": "mine"}]}), AsUnknown),
        ("browser__select_option", json!({"session": page, "element": element, "options": ["mine"]}), AsUnknown),
        ("browser__handle_dialog", json!({"session": page, "accept": true}), AsUnknown),
        ("browser__upload_file", json!({"session": page, "element": element, "paths": ["mine"]}), AsUnknown),
        ("browser__get_page_content", json!({"session": page}), AsUnknown),
        ("browser__get_snapshot", json!({"session": page}), AsUnknown),
        ("browser__get_element", json!({"session": page, "element": element}), AsUnknown),
        ("browser__list_interactable", json!({"session": page}), AsUnknown),
        ("browser__evaluate", json!({"session": page, "script": "document.title = 'mine'"}), AsUnknown),
        ("browser__wait_for", json!({"session": page, "text": "break", "timeout_seconds": 1}), AsUnknown),
        ("browser__screenshot", json!({"session": page}), AsUnknown),
        ("browser__pdf", json!({"session": page}), AsUnknown),
        ("browser__get_console", json!({"session": page}), AsUnknown),
        ("browser__get_network", json!({"session": page}), AsUnknown),
        ("browser__list_downloads", json!({"session": page}), AsUnknown),
        ("browser__list_sessions", json!({}), OwnAlone),
        ("browser__create_session", json!({}), OwnAlone),
    ]
}
