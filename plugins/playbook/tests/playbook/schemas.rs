//! What a model sees of the tools before it calls one.

use serde_json::Value;
use wharf_playbook::WharfPlugin;
use wharf_sdk::Plugin;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "create_playbook",
            "get_playbook",
            "select_playbook",
            "update_playbook",
            "delete_playbook",
            "list_playbooks",
            "get_playbook_page",
            "get_active_playbook",
            "complete_step",
        ]
    );
}

/// Every object in a schema refuses unknown members and describes its own.
fn check_object(tool: &str, schema: &Value) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        assert!(!name.starts_with("__"), "{tool}: {name}");
        assert!(property["description"].is_string(), "{tool}: `{name}` has no description");
        for inner in [property, &property["items"]] {
            if inner.get("properties").is_some() {
                assert_eq!(inner["additionalProperties"], false, "{tool}: `{name}`");
                check_object(tool, inner);
            }
        }
    }
}

#[test]
fn every_schema_is_an_object_that_refuses_unknown_arguments_and_describes_each_one() {
    for definition in WharfPlugin::definitions() {
        let schema: Value = serde_json::from_str(&definition.input_schema).expect("a schema is JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{}: {schema}", definition.name);
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
        check_object(definition.name, &schema);
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
        let reads = definition.name.starts_with("get_") || definition.name.starts_with("list_");
        assert_eq!(details.read_only, reads, "{}", definition.name);
        assert_eq!(details.destructive, definition.name.starts_with("delete_"), "{}", definition.name);
        assert!(!details.open_world && details.title.is_some(), "{}", definition.name);
    }
}
