//! Terminals of the plugin.

use serde_json::json;

use super::{AsUnknown, Case, OwnAlone};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        ("terminal__list_terminals", json!({"include_closed": true}), OwnAlone),
        ("terminal__start_terminal", json!({"program": "sh"}), OwnAlone),
    ];
    // Terminals that were opened by routes of HTTP are unknown here, too.
    for terminal in ["$terminal", "$shell"] {
        cases.extend([
            ("terminal__send_message", json!({"terminal_id": terminal, "text": "exit"}), AsUnknown),
            ("terminal__send_keys", json!({"terminal_id": terminal, "keys": ["C-d"]}), AsUnknown),
            ("terminal__wait_for_turn", json!({"terminal_id": terminal, "wait_seconds": 1}), AsUnknown),
            ("terminal__cancel_turn", json!({"terminal_id": terminal}), AsUnknown),
            ("terminal__read_screen", json!({"terminal_id": terminal}), AsUnknown),
            ("terminal__read_output", json!({"terminal_id": terminal, "cursor": 0}), AsUnknown),
            ("terminal__resize", json!({"terminal_id": terminal, "columns": 60, "rows": 20}), AsUnknown),
            ("terminal__close_terminal", json!({"terminal_id": terminal}), AsUnknown),
        ]);
    }
    cases
}
