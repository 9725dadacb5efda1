//! Plans, playbooks and contents.

use serde_json::json;

use super::{AsUnknown, Case, OwnAlone};

pub(super) fn cases() -> Vec<Case> {
    let step = json!({"description": "mine", "action": {"toolName": "any", "purpose": "mine"}});
    let thought = |revised: &str| {
        json!({
            "thought": "mine", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1,
            "isRevision": true, "revisesThought": revised,
        })
    };
    vec![
        ("planning__mark_todo", json!({"id": "$todo", "summary": "mine"}), AsUnknown),
        ("planning__update_todo", json!({"id": "$todo", "name": "mine"}), AsUnknown),
        ("planning__clear_todos", json!({"ids": ["$todo"]}), AsUnknown),
        ("planning__clear_todos", json!({}), OwnAlone),
        ("planning__clear_memo", json!({"id": "$memo"}), AsUnknown),
        ("planning__update_goal", json!({"goal": "mine"}), OwnAlone),
        ("planning__clear_goal", json!({}), OwnAlone),
        ("planning__list_goals", json!({}), OwnAlone),
        ("planning__get_current_state", json!({}), OwnAlone),
        ("planning__sequentialthinking", thought("$todo"), OwnAlone),
        ("planning__create_goal", json!({"goal": "mine"}), OwnAlone),
        ("planning__add_todo", json!({"name": "mine"}), OwnAlone),
        ("planning__add_memo", json!({"memo": "mine"}), OwnAlone),
        ("planning__clear_session", json!({}), OwnAlone),
        ("playbook__get_playbook", json!({"id": "$playbook"}), AsUnknown),
        ("playbook__select_playbook", json!({"id": "$playbook"}), AsUnknown),
        ("playbook__update_playbook", json!({"id": "$playbook", "playbook": {"goal": "mine"}}), AsUnknown),
        ("playbook__delete_playbook", json!({"id": "$playbook"}), AsUnknown),
        ("playbook__complete_step", json!({"stepId": "$step", "output": "mine"}), AsUnknown),
        ("playbook__get_active_playbook", json!({}), OwnAlone),
        ("playbook__list_playbooks", json!({}), OwnAlone),
        ("playbook__get_playbook_page", json!({"page": 1}), OwnAlone),
        ("playbook__create_playbook", json!({"goal": "mine", "workflow": [step]}), OwnAlone),
        ("content-store__get_content_info", json!({"content_id": "$content"}), AsUnknown),
        ("content-store__read_content", json!({"content_id": "$content"}), AsUnknown),
        ("content-store__delete_content", json!({"content_id": "$content"}), AsUnknown),
        ("content-store__list_contents", json!({"after": "$content"}), OwnAlone),
        ("content-store__list_contents", json!({}), OwnAlone),
        ("content-store__search_content", json!({"query": "notes", "content_ids": ["$content"]}), AsUnknown),
        ("content-store__search_content", json!({"query": "notes break*"}), OwnAlone),
        ("content-store__add_content_from_workspace", json!({"path": "$file"}), AsUnknown),
        ("content-store__add_content", json!({"text": "mine", "name": "notes.txt"}), OwnAlone),
        ("content-store__add_contents", json!({"texts": [{"text": "mine", "name": "more.txt"}]}), OwnAlone),
    ]
}
