//! What a model sees of the tools before it calls one.

use serde_json::Value;
use wharf_planning::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::check_definitions;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "create_goal",
            "update_goal",
            "clear_goal",
            "list_goals",
            "add_todo",
            "mark_todo",
            "update_todo",
            "clear_todos",
            "add_memo",
            "clear_memo",
            "get_current_state",
            "clear_session",
            "sequentialthinking",
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
        let details = definition.details;
        let reads = matches!(definition.name, "get_current_state" | "list_goals");
        assert_eq!(details.read_only, reads, "{}", definition.name);
        assert_eq!(details.destructive, definition.name.starts_with("clear_"), "{}", definition.name);
        assert!(!details.open_world, "{}", definition.name);
    }
}

#[test]
fn the_schema_of_a_todo_to_mark_reads_as_documented() {
    let schema: Value = serde_json::from_str(&crate::definition("mark_todo").input_schema).expect("a schema is JSON");
    assert_eq!(
        schema,
        serde_json::json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["id"],
            "properties": {
                "id": { "type": "integer", "minimum": 1, "description": "Which todo." },
                "completed": {
                    "type": "boolean", "default": true, "description": "False makes it pending again.",
                },
                "summary": {
                    "type": ["string", "null"], "maxLength": 1000,
                    "description": "The result. Left out, the summary stays; an empty text erases it.",
                },
            },
        })
    );
}
