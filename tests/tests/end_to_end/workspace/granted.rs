//! Without a grant the plugin is off, and errors say what would change that.

use serde_json::json;
use wharf_tests::{Client, Data, Setup, wharf};

use super::{ask, refusal, refused, run};

#[tokio::test]
async fn a_plugin_that_nobody_granted_anything_is_off_and_its_tools_say_how_to_turn_it_on() {
    let fixture = Setup::new().bundled("workspace", "").open().await;
    assert!(fixture.host.off().iter().any(|off| off.name.as_str() == "workspace"));
    let refusal = refusal(fixture.call("workspace__execute_shell", json!({"command": "true"})).await);
    for word in ["`workspace` is off", "[plugin.workspace.grants]", "--profile developer"] {
        assert!(refusal.contains(word), "{word}: {refusal}");
    }
}

#[test]
fn the_line_at_the_start_names_what_is_off_and_no_tool_of_it_is_listed() {
    let data = Data::new();
    let configuration = data.write("wharf.toml", "");
    let serve = |arguments: &[&str]| {
        let command = wharf(["serve", "--stdio"].iter().chain(arguments)).config(&configuration).data(data.path());
        let mut client = Client::connect(command);
        let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let shown = listed.to_string().contains("workspace__execute_shell");
        (shown, client.leave().1)
    };
    let (shown, log) = serve(&[]);
    assert!(
        !shown && log.contains("off=\"browser,terminal,workspace\"") && log.contains("--profile developer"),
        "{log}"
    );
    let (shown, log) = serve(&["--profile", "developer"]);
    assert!(shown && log.contains("off=\"\"") && !log.contains("--profile"), "{log}");
}

#[tokio::test]
async fn files_alone_can_be_granted_and_reading_alone() {
    let files = "[plugin.workspace.grants.workspace]\nreason = \"a test\"";
    let fixture = Setup::new().bundled("workspace", files).open().await;
    ask(&fixture, "write_file", json!({"path": "file", "content": "text"})).await;
    let refusal = refused(&fixture, "execute_shell", json!({"command": "true"})).await;
    assert!(refusal.contains("[plugin.workspace.grants.process]"), "{refusal}");

    let reading = format!("{files}\naccess = \"read\"");
    let fixture = Setup::new().bundled("workspace", &reading).open_in(fixture.data).await;
    assert_eq!(ask(&fixture, "read_file", json!({"path": "file"})).await.structured["text"], "text");
    for (tool, arguments) in [
        ("write_file", json!({"path": "file", "content": "x"})),
        (
            "replace_lines_in_file",
            json!({"path": "file", "replacements": [{"start_line": 1, "end_line": 1, "content": "x"}]}),
        ),
    ] {
        let refusal = refused(&fixture, tool, arguments).await;
        assert!(
            refusal.contains("denied") && refusal.contains("[plugin.workspace.grants.workspace]"),
            "{tool}: {refusal}"
        );
    }
    assert_eq!(ask(&fixture, "read_file", json!({"path": "file"})).await.structured["text"], "text");
}

#[tokio::test]
async fn commands_alone_can_be_granted() {
    let commands = "[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true";
    let fixture = Setup::new().bundled("workspace", commands).open().await;
    assert_eq!(run(&fixture, "echo alone > file; cat file").await.shown("stdout"), "alone\n");
    let refusal = refused(&fixture, "read_file", json!({"path": "file"})).await;
    assert!(refusal.contains("[plugin.workspace.grants.workspace]"), "{refusal}");
}
