//! Calls that wait until a person allows them: seen by the agent that calls, by the person at a
//! shell, and in the audit.

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, blocking, wharf};

/// A host whose shell asks first.
struct Asking {
    data: Data,
}

impl Asking {
    fn new(approvals: &str) -> Self {
        let data = Data::new();
        data.write("wharf.toml", format!("# mine\nprofile = \"developer\"\n[approvals] # kept\n{approvals}\n"));
        Self { data }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        wharf(arguments).config(&self.data.path().join("wharf.toml")).data(self.data.path())
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).run()
    }

    fn client(&self, session: &str) -> Client {
        Client::connect(self.command(&["serve", "--stdio", "--session", session]))
    }

    /// All that waits, once so many do.
    #[track_caller]
    fn waiting(&self, count: usize) -> Vec<Value> {
        let mut found = Vec::new();
        blocking::until("calls wait for a person", || {
            let run = self.run(&["approvals", "--json"]);
            let listed: Value = serde_json::from_str(&run.out).map_err(|error| format!("{error}: {run:?}"))?;
            found = listed["approvals"].as_array().cloned().unwrap_or_default();
            if found.len() == count { Ok(()) } else { Err(format!("{found:?}")) }
        });
        found
    }

    fn audited(&self) -> Vec<String> {
        let run = self.run(&["audit", "--kind", "approval", "--json"]);
        let lines =
            run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{run:?}")));
        lines.map(|line| line["function"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn shell(command: &str) -> Value {
    json!({"name": "workspace__execute_shell", "arguments": {"command": command}})
}

fn id(call: &Value) -> String {
    call["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_command_runs_once_a_person_has_allowed_it() {
    let host = Asking::new("approve = [\"workspace__execute_shell\"]");
    let mut agent = host.client("work");
    assert!(host.run(&["approvals"]).out.starts_with("No call waits for you."));
    let asked = agent.ask("tools/call", shell("echo ran > ran.txt; cat ran.txt"));
    let waiting = host.waiting(1).remove(0);
    assert_eq!((&waiting["tool"], &waiting["session"]), (&json!("workspace__execute_shell"), &json!("work")));
    assert_eq!(waiting["arguments"], json!("{\"command\":\"echo ran > ran.txt; cat ran.txt\"}"));
    let shown = host.run(&["approvals"]);
    assert!(shown.out.contains(&id(&waiting)) && shown.out.contains("echo ran > ran.txt"), "{shown:?}");
    // Nothing has run, and other calls go on.
    let there = agent.request("tools/call", json!({"name": "workspace__list_directory", "arguments": {}}));
    assert!(!there.to_string().contains("ran.txt"), "{there}");
    let run = host.run(&["approvals", "allow", &id(&waiting)]);
    assert!(run.code == Some(0) && run.out.starts_with("workspace__execute_shell"), "{run:?}");
    let ran = agent.answer(asked)["result"].clone();
    assert!(ran["isError"] != json!(true) && ran.to_string().contains("ran"), "{ran}");
    let run = host.run(&["approvals", "allow", &id(&waiting)]);
    assert!(run.code == Some(1) && run.err.contains("waits"), "{run:?}");

    let asked = agent.ask("tools/call", shell("rm -r ."));
    let refused = host.run(&["approvals", "refuse", &id(&host.waiting(1)[0]), "--reason", "keep it"]);
    assert_eq!(refused.code, Some(0), "{refused:?}");
    let told = agent.answer(asked)["result"].clone();
    assert!(told["isError"] == json!(true) && told.to_string().contains("has not run: keep it"), "{told}");
    drop(agent);
    assert_eq!(host.audited(), ["asked", "allowed", "asked", "refused"]);
}

#[test]
fn a_call_that_a_person_types_asks_nobody() {
    let host = Asking::new("approve = [\"*\"]");
    let run = host.run(&["call", "workspace__execute_shell", "{\"command\": \"echo typed\"}"]);
    assert!(run.code == Some(0) && run.out.contains("typed"), "{run:?}");
}

#[test]
fn a_person_may_allow_a_tool_for_a_session_or_for_good() {
    let host = Asking::new("approve = [\"workspace__execute_shell\"]");
    let (mut work, mut play) = (host.client("work"), host.client("play"));
    let asked = work.ask("tools/call", shell("true"));
    let run = host.run(&["approvals", "allow", &id(&host.waiting(1)[0]), "--session"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_ne!(work.answer(asked)["result"]["isError"], json!(true));
    let again = work.request("tools/call", shell("true"));
    assert_ne!(again["result"]["isError"], json!(true), "it is remembered: {again}");
    // Another session asks for itself.
    let asked = play.ask("tools/call", shell("true"));
    let waiting = host.waiting(1).remove(0);
    assert_eq!(waiting["session"], json!("play"));
    let run = host.run(&["approvals", "allow", &id(&waiting), "--always"]);
    assert!(run.code == Some(0) && run.out.contains("wharf.toml"), "{run:?}");
    assert_ne!(play.answer(asked)["result"]["isError"], json!(true));
    let written = std::fs::read_to_string(host.data.path().join("wharf.toml")).expect("read");
    assert!(written.starts_with("# mine\n") && written.contains("[approvals] # kept\n"), "{written}");
    assert!(written.contains("always = [\"workspace__execute_shell\"]"), "{written}");
    let free = host.client("later").request("tools/call", shell("true"));
    assert_ne!(free["result"]["isError"], json!(true), "{free}");
}

#[test]
fn a_call_that_nobody_allows_is_refused_and_clients_hear_what_it_waits_for() {
    let host = Asking::new("destructive = true\nwait_seconds = 2");
    let mut agent = host.client("work");
    let mut call = shell("true");
    call["_meta"] = json!({"progressToken": "t"});
    let asked = agent.ask("tools/call", call);
    let told = agent.notification("notifications/progress");
    assert!(told["params"]["message"].as_str().is_some_and(|told| told.contains("a person has to allow")), "{told}");
    let refused = agent.answer(asked)["result"].clone();
    assert!(refused["isError"] == json!(true) && refused.to_string().contains("within 2 seconds"), "{refused}");
    // What only reads does not wait.
    let read = agent.request("tools/call", json!({"name": "workspace__list_directory", "arguments": {}}));
    assert_ne!(read["result"]["isError"], json!(true), "{read}");
    // Neither does what does not fit: nobody is asked for nothing.
    let wrong = agent.request("tools/call", json!({"name": "workspace__execute_shell", "arguments": {"nothing": 1}}));
    assert_ne!(wrong["result"]["isError"], json!(false), "{wrong}");
    drop(agent);
    assert_eq!(host.audited(), ["asked", "timed-out"]);
}
