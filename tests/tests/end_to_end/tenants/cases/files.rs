//! Files and processes.

use serde_json::json;

use super::{AsUnknown, Case, OwnAlone};

/// Shows whatever a command of the second tenant can see of the first one's.
const LOOK: &str = "ls -A; cat *; cat ../*/files/* ../../*/*/files/* 2>/dev/null; \
                    cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; true";

pub(super) fn cases() -> Vec<Case> {
    let edit = json!([{"start_line": 1, "end_line": 1, "content": "mine"}]);
    let exchange = |path: &str| json!({"exchange": "dock", "path": path});
    vec![
        ("workspace__poll_process", json!({"process_id": "$process"}), AsUnknown),
        ("workspace__wait_for_process", json!({"process_id": "$process", "wait_seconds": 1}), AsUnknown),
        ("workspace__read_process_output", json!({"process_id": "$process"}), AsUnknown),
        ("workspace__write_process_input", json!({"process_id": "$process", "text": "mine"}), AsUnknown),
        ("workspace__stop_process", json!({"process_id": "$process", "grace_seconds": 0}), AsUnknown),
        ("workspace__stop_process", json!({"process_id": "$process", "signal": "quit"}), AsUnknown),
        ("workspace__list_processes", json!({"status_filter": "all"}), OwnAlone),
        ("workspace__read_file", json!({"path": "$file"}), AsUnknown),
        ("workspace__replace_lines_in_file", json!({"path": "$file", "replacements": edit}), AsUnknown),
        ("workspace__export_file", exchange("$file"), AsUnknown),
        ("workspace__import_file", exchange("$file"), AsUnknown),
        ("workspace__search_files", json!({"path": "$file", "pattern": "break"}), AsUnknown),
        ("workspace__search_files", json!({"glob": "*", "hidden": true}), OwnAlone),
        ("workspace__list_directory", json!({"hidden": true, "depth": 5}), OwnAlone),
        ("workspace__write_file", json!({"path": "own.txt", "content": "mine"}), OwnAlone),
        ("workspace__execute_shell", json!({"command": LOOK, "wait_seconds": 60}), OwnAlone),
    ]
}
