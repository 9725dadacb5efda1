//! What a model sees of the tools before it calls one, and what it is told
//! where nothing is granted.

use serde_json::json;
use wharf_plugin_workspace::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::{TestCall, check_definitions};

use crate::{Agent, TestAgent as _, accepts};

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

#[test]
fn every_tool_says_all_that_a_model_needs() {
    check_definitions::<WharfPlugin>();
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
