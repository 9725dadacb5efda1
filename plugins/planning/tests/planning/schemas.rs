//! What a model sees of the tools before it calls one.

use serde_json::Value;
use wharf_planning::WharfPlugin;
use wharf_sdk::Plugin;

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
fn every_schema_is_an_object_that_refuses_unknown_arguments_and_describes_each_one() {
    for definition in WharfPlugin::definitions() {
        let schema: Value = serde_json::from_str(&definition.input_schema).expect("a schema is JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{}: {schema}", definition.name);
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
        for (name, property) in schema["properties"].as_object().expect("properties") {
            assert!(!name.starts_with("__"), "{name}");
            assert!(property["description"].is_string(), "{}: `{name}` has no description", definition.name);
        }
        let output: Value =
            serde_json::from_str(definition.output_schema.as_deref().expect("an output schema")).expect("a schema");
        assert!(jsonschema::meta::is_valid(&output), "{}: {output}", definition.name);
        assert_eq!(output["type"], "object");
    }
}

#[test]
fn what_a_client_is_told_of_a_tool_fits_what_it_does() {
    for definition in WharfPlugin::definitions() {
        let details = definition.details;
        let reads = matches!(definition.name, "get_current_state" | "list_goals");
        assert_eq!(details.read_only, reads, "{}", definition.name);
        assert_eq!(details.destructive, definition.name.starts_with("clear_"), "{}", definition.name);
        assert!(!details.open_world && details.title.is_some(), "{}", definition.name);
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
                    "description": "What came of it. Left out, the summary stays; an empty text erases it.",
                },
            },
        })
    );
}
