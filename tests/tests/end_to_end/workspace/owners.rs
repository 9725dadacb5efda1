//! What one session has, no other session sees.

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, context};

use super::{ask, prints, refusal, setup, start, stop, told};

async fn refused_in(fixture: &Fixture, context: &Context, tool: &str, arguments: Value) -> String {
    refusal(fixture.call_in(context, &format!("workspace__{tool}"), arguments).await)
}

#[tokio::test]
async fn another_session_or_tenant_finds_neither_process_nor_file() {
    let fixture = setup().open().await;
    let id = start(&fixture, "echo secret | tee file; read line; echo \"got $line\"; sleep 1000").await;
    prints(&fixture, &id, "secret").await;
    for stranger in [context("local", "another"), context("another", "test")] {
        for (tool, more) in [
            ("poll_process", json!({})),
            ("wait_for_process", json!({"wait_seconds": 1})),
            ("wait_for_process", json!({"until": {"pattern": "secret"}})),
            ("read_process_output", json!({})),
            ("write_process_input", json!({"text": "forged"})),
            ("stop_process", json!({})),
            ("stop_process", json!({"signal": "quit"})),
        ] {
            let mut arguments = json!({"process_id": id});
            arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
            let refusal = refused_in(&fixture, &stranger, tool, arguments).await;
            assert!(refusal.starts_with("not-found") && !refusal.contains("secret"), "{tool}: {refusal}");
        }
        let listed = told(fixture.call_in(&stranger, "workspace__list_processes", json!({})).await);
        assert_eq!(listed.structured["total"], 0);
        for tool in ["read_file", "replace_lines_in_file"] {
            let mut arguments = json!({"path": "file"});
            if tool == "replace_lines_in_file" {
                arguments["replacements"] = json!([{"start_line": 1, "end_line": 1, "content": "forged"}]);
            }
            let refusal = refused_in(&fixture, &stranger, tool, arguments).await;
            assert!(refusal.starts_with("not-found"), "{tool}: {refusal}");
        }
        let found = told(fixture.call_in(&stranger, "workspace__search_files", json!({"pattern": "secret"})).await);
        assert_eq!(found.structured["matches"].as_array().map(Vec::len), Some(0), "{found:?}");
        // Not by a command either, which sees nothing but its own workspace.
        let command = json!({"command": "ls -A; cat file ../*/files/file ../../*/*/files/file 2>/dev/null; echo -"});
        let done = told(fixture.call_in(&stranger, "workspace__execute_shell", command).await);
        assert_eq!(done.shown("stdout"), "-\n");
        let command = json!({"command": "for id in /proc/[0-9]*; do tr '\\0' ' ' < $id/cmdline; done; true"});
        let seen = told(fixture.call_in(&stranger, "workspace__execute_shell", command).await);
        assert!(!seen.text.contains("tee file"), "{seen:?}");
    }
    let polled = ask(&fixture, "poll_process", json!({"process_id": id})).await;
    assert_eq!((polled.shown("stdout"), &polled.structured["status"]), ("secret\n", &json!("running")));
    stop(&fixture, &id).await;
}

#[tokio::test]
async fn another_thread_and_assistant_of_the_session_goes_on_where_the_first_one_was() {
    let fixture = setup().open().await;
    let id = start(&fixture, "echo shared > file; echo ready; sleep 1000").await;
    prints(&fixture, &id, "ready").await;
    let mut colleague = context("local", "test");
    colleague.assistant = Some("colleague".parse().expect("legal"));
    colleague.thread = Some("another".parse().expect("legal"));
    let read = told(fixture.call_in(&colleague, "workspace__read_file", json!({"path": "file"})).await);
    assert_eq!(read.structured["text"], "shared\n");
    let stopped = json!({"process_id": id, "grace_seconds": 0});
    let stopped = told(fixture.call_in(&colleague, "workspace__stop_process", stopped).await);
    assert_eq!(stopped.structured["still_running"], false);
}
