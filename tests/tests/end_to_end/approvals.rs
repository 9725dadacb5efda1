//! Calls that wait until a person allows them: seen by the agent that calls, by the person at a
//! shell, and in the audit.

mod commands;
mod guests;

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, blocking, component, wharf};

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
    // A host that is killed may lose the lines of its last moments.
    assert_eq!(agent.leave().2, Some(0));
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
    assert_eq!(agent.leave().2, Some(0));
    assert_eq!(host.audited(), ["asked", "timed-out"]);
}

/// Asks the person at the client, who can be asked for forms.
fn asking_client() -> Asking {
    let component = component("guest-conformance");
    Asking::new(&format!(
        "ask = \"client\"\napprove = [\"workspace__execute_shell\", \"conformance__*\"]\n[plugin.conformance]\nsource = {:?}",
        component.to_str().expect("text")
    ))
}

/// What the person at the client is asked, who then says this.
fn says(agent: &mut Client, result: &Value) -> Value {
    let asked = agent.notification("elicitation/create");
    agent.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    asked["params"].clone()
}

#[test]
fn the_person_at_a_client_allows_its_calls_on_its_own_connection() {
    let host = asking_client();
    let command = host.command(&["serve", "--stdio", "--session", "work"]);
    let mut agent = Client::connect_as(command, &json!({"elicitation": {}}));
    let asked = agent.ask("tools/call", shell("echo ra''n"));
    let question = says(&mut agent, &json!({"action": "accept", "content": {}}));
    let message = question["message"].as_str().unwrap_or_default();
    assert!(message.contains("workspace__execute_shell") && message.contains("echo ra''n"), "{question}");
    let ran = agent.answer(asked)["result"].clone();
    assert!(ran["isError"] != json!(true) && ran.to_string().contains("ran"), "{ran}");
    for refusal in [json!({"action": "decline"}), json!({"action": "cancel"})] {
        let asked = agent.ask("tools/call", shell("rm -r ."));
        says(&mut agent, &refusal);
        let refused = agent.answer(asked)["result"].clone();
        assert!(refused["isError"] == json!(true) && refused.to_string().contains("has not run"), "{refused}");
    }
    let asked = agent.ask("tools/call", shell("true"));
    says(&mut agent, &json!({"action": "accept", "content": {"session": true}}));
    assert_ne!(agent.answer(asked)["result"]["isError"], json!(true));
    let free = agent.request("tools/call", shell("true"));
    assert_ne!(free["result"]["isError"], json!(true), "it is remembered for the session: {free}");
    assert_eq!(agent.leave().2, Some(0));
    let words = ["asked", "allowed-by-client", "asked", "refused-by-client"];
    let again = ["asked", "refused-by-client", "asked", "allowed-by-client"];
    assert_eq!(host.audited(), [words, again].concat());
}

#[test]
fn a_client_that_cannot_ask_has_the_operator_asked() {
    let host = asking_client();
    let mut agent = host.client("work");
    let asked = agent.ask("tools/call", shell("echo ra''n"));
    assert_eq!(host.run(&["approvals", "allow", &id(&host.waiting(1)[0])]).code, Some(0));
    assert!(agent.answer(asked)["result"].to_string().contains("ran"));
}

#[test]
fn what_a_client_carries_says_that_its_person_has_allowed_this_very_call() {
    const TOOL: &str = "conformance__test_input_required_result_multi_round";
    let host = asking_client();
    let mut agent = host.client("work");
    let mut call = |name: &str, arguments: Value, given: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let mut params = json!({"name": name, "arguments": arguments, "_meta": meta});
        for (name, value) in given.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        agent.request("tools/call", params)
    };
    let accept = json!({"action": "accept", "content": {}});
    let first = call(TOOL, json!({}), json!({}))["result"].clone();
    assert!(first["inputRequests"]["wharf-approval"]["params"]["message"].is_string(), "{first}");
    let given = |state: &Value, name: &str, response: &Value| json!({"inputResponses": {name: response}, "requestState": state});
    // Nobody was asked, whatever the client says.
    let unasked = call(TOOL, json!({}), json!({"inputResponses": {"wharf-approval": accept}}))["result"].clone();
    assert!(unasked["inputRequests"]["wharf-approval"].is_object(), "{unasked}");
    // It was asked about another call.
    let other = call(
        "workspace__execute_shell",
        json!({"command": "true"}),
        given(&first["requestState"], "wharf-approval", &accept),
    );
    assert!(other["error"]["message"].as_str().is_some_and(|told| told.contains("requestState")), "{other}");

    let second = call(TOOL, json!({}), given(&first["requestState"], "wharf-approval", &accept))["result"].clone();
    assert!(second["inputRequests"]["step1"].is_object(), "the tool asks by itself now: {second}");
    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    let third = call(TOOL, json!({}), given(&second["requestState"], "step1", &name))["result"].clone();
    assert!(third["inputRequests"]["step2"].is_object(), "nobody is asked again: {third}");
    let color = json!({"action": "accept", "content": {"color": "blue"}});
    let last = call(TOOL, json!({}), given(&third["requestState"], "step2", &color))["result"].clone();
    assert!(last.to_string().contains("Hello, Ada! Your favorite color is blue."), "{last}");
}
