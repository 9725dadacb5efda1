//! `wharf connect`: what an MCP client is given, and what becomes of the rest of its file.

use std::path::Path;

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Finished, wharf, wharf_of};

struct Home(Data);

impl Home {
    fn new() -> Self {
        Self(Data::alone())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn connect(&self, arguments: &[&str]) -> Finished {
        let home = self.path().to_str().expect("text");
        let all = ["connect"].iter().chain(arguments);
        wharf(all).env("HOME", home).inside(self.path()).run()
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

#[test]
fn a_client_that_is_given_the_host_starts_it_as_it_was_chosen() {
    let home = Home::new();
    let run = home.connect(&["cursor", "--data", "kept", "--profile", "developer"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("+++ changed") && run.out.contains("Cursor reads it when it starts."), "{run:?}");
    let read: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).expect("JSON");
    let server = &read["mcpServers"]["wharf"];
    let words = |value: &Value| -> Vec<String> {
        value.as_array().expect("a list").iter().map(|word| word.as_str().expect("text").to_owned()).collect()
    };
    let command = Path::new(server["command"].as_str().expect("a program"));
    // Clients start it in folders of their own.
    let elsewhere = Data::alone();
    let mut clients = [(); 2].map(|()| {
        let started = wharf_of(command, words(&server["args"])).inside(elsewhere.path());
        Client::connect(started)
    });
    let goal = |text: &str| json!({"goal": text});
    let made = clients[0].call("planning__create_goal", goal("the first"), json!({}));
    assert_ne!(made["isError"], json!(true), "{made}");
    let other = clients[1].call("planning__list_goals", json!({}), json!({}));
    assert!(!other.to_string().contains("the first"), "each process has a session of its own: {other}");
    let listed = clients[1].request("tools/list", json!({}));
    assert!(listed.to_string().contains("workspace__execute_shell"), "the profile goes with it: {listed}");
    assert!(home.path().join("kept").is_dir() && !elsewhere.path().join("kept").exists());
}

#[test]
fn the_rest_of_the_file_stays_and_what_it_said_before_is_kept() {
    let home = Home::new();
    let before = "// mine\n{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // kept\n  }\n}\n";
    home.0.write("real.json", before);
    std::os::unix::fs::symlink("real.json", home.path().join(".mcp.json")).expect("a link");
    let run = home.connect(&["claude-code", "--http"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("WHARF_TOKEN") && run.out.contains("real.json.before-wharf"), "{run:?}");
    let after = home.read("real.json");
    assert!(after.starts_with("// mine\n") && after.contains("\"other\": {\"command\": \"x\"}"), "{after}");
    assert!(after.contains("// kept") && after.contains("\"Bearer ${WHARF_TOKEN}\""), "{after}");
    assert_eq!(home.read("real.json.before-wharf"), before);
    assert!(home.path().join(".mcp.json").is_symlink());
    let run = home.connect(&["claude-code", "--http"]);
    assert!(run.code == Some(0) && run.out.starts_with("Nothing changes"), "{run:?}");
    let run = home.connect(&["claude-code", "--remove"]);
    assert_eq!((run.code, home.read("real.json").as_str()), (Some(0), before), "{run:?}");
    let run = home.connect(&["claude-code", "--remove"]);
    assert!(run.code == Some(0) && run.out.starts_with("Nothing changes"), "{run:?}");
}

#[test]
fn what_cannot_be_written_is_refused_and_nothing_changes() {
    let home = Home::new();
    let broken = "{\"mcpServers\": {";
    home.0.write(".mcp.json", broken);
    let run = home.connect(&["claude-code"]);
    assert!(
        run.code == Some(3) && run.err.contains("Claude Code") && run.err.contains("nothing was changed"),
        "{run:?}"
    );
    assert_eq!(home.read(".mcp.json"), broken);
    for (arguments, told) in [
        (&["claude-desktop", "--http"][..], "connector"),
        (&["zed", "--http"], "in clear"),
        (&["cursor", "--http=127.0.0.1:80"], "http://"),
        (&["cursor", "--http", "--session", "x"], "cannot be used with"),
        (&["emacs"], "possible values"),
    ] {
        let run = home.connect(arguments);
        assert!(run.code == Some(2) && run.err.contains(told), "{arguments:?}: {run:?}");
    }
    let run = home.connect(&["codex", "--print", "--name", "tools"]);
    assert!(run.code == Some(0) && run.out.starts_with("[mcp_servers.tools]\ncommand = \""), "{run:?}");
    assert!(!home.path().join(".codex").exists() && !home.path().join(".cursor").exists());
}
