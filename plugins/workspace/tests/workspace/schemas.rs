//! What a model sees of the tools before it calls one, and what it is told
//! where nothing is granted.

use serde_json::{Value, json};
use wharf_plugin_workspace::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::TestCall;

use crate::{Agent, accepts};

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "execute_shell",
            "poll_process",
            "wait_for_process",
            "read_process_output",
            "write_process_input",
            "list_processes",
            "stop_process",
            "read_file",
            "write_file",
            "list_directory",
            "replace_lines_in_file",
            "search_files",
            "import_file",
            "export_file",
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
fn every_argument_is_described_and_every_answer_has_a_schema() {
    for definition in WharfPlugin::definitions() {
        let schema: Value = serde_json::from_str(&definition.input_schema).expect("a schema is JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{}: {schema}", definition.name);
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
        check_object(definition.name, &schema);
        let output: Value =
            serde_json::from_str(definition.output_schema.as_deref().expect("an output schema")).expect("a schema");
        assert!(jsonschema::meta::is_valid(&output), "{}: {output}", definition.name);
        assert_eq!(output["type"], "object", "{}", definition.name);
        assert!(definition.details.title.is_some(), "{}", definition.name);
    }
}

#[test]
fn descriptions_advise_waiting_over_polling() {
    for name in ["execute_shell", "poll_process", "wait_for_process", "list_processes"] {
        let definitions = WharfPlugin::definitions();
        let definition = definitions.iter().find(|definition| definition.name == name).expect("it is there");
        assert!(definition.description.contains("wait"), "{name}");
    }
}

#[test]
fn what_makes_no_sense_never_comes_through() {
    for (tool, arguments) in [
        ("execute_shell", json!({})),
        ("execute_shell", json!({ "command": "true", "wait_seconds": 601 })),
        ("execute_shell", json!({ "command": "true", "run_mode": "later" })),
        ("poll_process", json!({ "process_id": "p", "lines": 10_001 })),
        ("read_process_output", json!({ "process_id": "p", "max_bytes": 16_385 })),
        ("read_process_output", json!({ "process_id": "p", "stream": "stdin" })),
        ("stop_process", json!({ "process_id": "p", "signal": "kill" })),
        ("list_directory", json!({ "depth": 6 })),
        ("replace_lines_in_file", json!({ "path": "a", "replacements": [] })),
        ("write_file", json!({ "path": "a", "content": "", "mode": "x" })),
        ("search_files", json!({ "pattern": "a", "max_results": 1_001 })),
    ] {
        assert!(!accepts(tool, &arguments), "{tool} {arguments}");
    }
    assert!(accepts("execute_shell", &json!({ "command": "echo \"it's\"", "environment": { "A": "b" } })));
    assert!(accepts("wait_for_process", &json!({ "process_id": "p", "until": { "pattern": "ready" } })));
}

#[test]
fn processes_are_asked_of_the_host_and_its_refusal_is_passed_on() {
    let agent = Agent::new();
    for (tool, arguments) in [
        ("execute_shell", json!({ "command": "echo \"it's\"", "directory": "src" })),
        ("poll_process", json!({ "process_id": "p" })),
        ("wait_for_process", json!({ "process_id": "p", "until": { "output": true } })),
        ("read_process_output", json!({ "process_id": "p", "mode": "from", "cursor": 5 })),
        ("write_process_input", json!({ "process_id": "p", "text": "yes" })),
        ("list_processes", json!({})),
        ("stop_process", json!({ "process_id": "p", "signal": "interrupt" })),
    ] {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.starts_with("unavailable: processes run in the host only"), "{tool}: {refused}");
    }
    let refused = agent.refused("read_process_output", &json!({ "process_id": "p", "cursor": 5 }));
    assert!(refused.contains("belongs to `mode` \"from\""), "{refused}");
    let refused = agent.refused("execute_shell", &json!({ "command": "true", "directory": "../.." }));
    assert!(refused.contains("leads out"), "{refused}");
}

#[test]
fn without_the_grant_every_file_tool_is_denied_with_the_line_that_grants_it() {
    let call = TestCall::new();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "a" })),
        ("write_file", json!({ "path": "a", "content": "" })),
        ("list_directory", json!({})),
        (
            "replace_lines_in_file",
            json!({ "path": "a", "replacements": [{ "start_line": 1, "end_line": 1, "content": "" }] }),
        ),
        ("search_files", json!({ "glob": "*" })),
        ("import_file", json!({ "exchange": "in", "path": "a" })),
        ("export_file", json!({ "exchange": "in", "path": "a" })),
    ] {
        let refused = call.expect_refusal::<WharfPlugin>(tool, &arguments);
        assert!(refused.starts_with("denied") && refused.contains("grants.workspace"), "{tool}: {refused}");
    }
}
