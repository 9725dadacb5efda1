//! What a model sees of the tools before it calls one.

use serde_json::Value;
use wharf_content_store::WharfPlugin;
use wharf_sdk::Plugin;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "add_content",
            "list_contents",
            "read_content",
            "search_content",
            "delete_content",
            "get_content_info",
            "add_content_from_workspace"
        ]
    );
}

#[test]
fn every_argument_is_described_and_none_is_of_the_context() {
    for definition in WharfPlugin::definitions() {
        let schema: Value = serde_json::from_str(&definition.input_schema).expect("a schema is JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{}: {schema}", definition.name);
        assert_eq!(schema["additionalProperties"], false, "{}", definition.name);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(!name.starts_with("__"), "{}: {name}", definition.name);
            assert!(property["description"].is_string(), "{}: `{name}` has no description", definition.name);
        }
        let output = definition.output_schema.expect("an output schema");
        assert!(jsonschema::meta::is_valid(&serde_json::from_str(&output).expect("a schema is JSON")));
    }
}
