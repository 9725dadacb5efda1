//! What the operator sees over HTTP and does there: by a token of their own, by a cookie of a browser,
//! and never by what an agent has.

mod attacks;
mod evidence;
mod installing;
mod people;
mod steering;
mod watching;

use std::{io::Write as _, net::TcpStream, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use wharf_tests::{Client, Data, Following, Reply, Server, Setup, blocking, replied, wharf};

/// A host whose shell asks first where this says so, and its operator.
struct Operated {
    server: Server,
    token: String,
}

impl Operated {
    fn start(configuration: &str) -> Self {
        let data = Data::new();
        data.write("wharf.toml", configuration);
        Self::of(Server::start_in(data, &[]))
    }

    fn of(server: Server) -> Self {
        let token = std::fs::read_to_string(server.data.path().join("operator-token")).expect("the operator's token");
        Self { server, token: token.trim().to_owned() }
    }

    /// A request with these headers, and no token of an agent.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = self.server.connect();
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\n{headers}{kind}Content-Length: {}\r\n\r\n{body}",
            self.server.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it is taken");
        stream
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: Option<Value>) -> Reply {
        replied(self.send(method, path, headers, &body.map(|body| body.to_string()).unwrap_or_default()))
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        self.request(method, path, &self.bearer(), body)
    }

    fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, None);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    fn follow(&self, path: &str) -> Following {
        Following::of(self.send("GET", path, &format!("{}Accept: text/event-stream\r\n", self.bearer()), ""))
    }

    /// Calls a tool as an agent does, and leaves the answer to be read.
    fn call(&self, session: &str, tool: &str, arguments: &Value) -> TcpStream {
        let meta = json!({"dev.wharf/sessionId": session});
        let call = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        self.server.say(&self.server.handshake().expect("a session"), &call)
    }

    /// Waits until a list has so many entries.
    fn until(&self, path: &str, name: &str, count: usize) -> Vec<Value> {
        blocking::until(format_args!("{path} has {count}"), || {
            let found = self.get(path)[name].as_array().cloned().unwrap_or_default();
            if found.len() == count { Ok(found) } else { Err(format!("{found:?}")) }
        })
    }
}

const SHELL: &str = "workspace__execute_shell";

fn command(command: &str) -> Value {
    json!({"command": command})
}

fn in_background(command: &str) -> Value {
    json!({"command": command, "run_mode": "async"})
}

#[test]
fn a_call_that_waits_is_told_at_once_and_runs_when_the_operator_allows_it() {
    let host = Operated::start("profile = \"developer\"\n[approvals]\napprove = [\"workspace__execute_shell\"]\n");
    let mut events = host.follow("/v1/operator/events?topics=approvals");
    assert_eq!(events.event().expect("the first copy").data, json!({"approvals": []}));
    let call = host.call("work", SHELL, &command("echo ra''n"));
    let waiting = loop {
        let event = events.event().expect("it is told");
        if event.kind == "approvals" && event.data["approvals"][0].is_object() {
            break event.data["approvals"][0].clone();
        }
    };
    assert_eq!((&waiting["tool"], &waiting["session"]), (&json!(SHELL), &json!("work")));
    assert_eq!(waiting["arguments"], json!("{\"command\":\"echo ra''n\"}"));
    let path = format!("/v1/operator/approvals/{}", waiting["id"].as_str().expect("an id"));
    let wrong = host.ask("POST", &path, Some(json!({"answer": "maybe"})));
    assert_eq!(wrong.status, 400, "{wrong:?}");
    let allowed = host.ask("POST", &path, Some(json!({"answer": "once"})));
    assert_eq!((allowed.status, &allowed.json()["tool"]), (200, &json!(SHELL)));
    let answer = replied(call).message();
    assert!(answer["result"]["isError"] != json!(true) && answer.to_string().contains("ran"), "{answer}");
    assert_eq!(host.ask("POST", &path, Some(json!({"answer": "once"}))).status, 404, "it was answered");

    let call = host.call("work", SHELL, &command("true"));
    let waiting = host.until("/v1/operator/approvals", "approvals", 1).remove(0);
    let path = format!("/v1/operator/approvals/{}", waiting["id"].as_str().expect("an id"));
    assert_eq!(host.ask("POST", &path, Some(json!({"answer": {"refuse": "not today"}}))).status, 200);
    let refused = replied(call).message();
    assert!(refused["result"]["isError"] == json!(true) && refused.to_string().contains("not today"), "{refused}");
    blocking::until("the audit has all of it", || {
        let audited = host.get("/v1/operator/audit?kind=approval")["lines"].as_array().cloned().unwrap_or_default();
        let words: Vec<_> = audited.iter().map(|line| line["function"].clone()).collect();
        if words == ["asked", "allowed", "asked", "refused"] { Ok(()) } else { Err(words) }
    });
}

#[test]
fn a_call_that_runs_is_listed_with_its_process_and_ends_when_the_operator_says_so() {
    let host = Operated::start("profile = \"developer\"\n");
    let call = host.call("work", SHELL, &command("echo begun; sleep 1000"));
    let running = host.until("/v1/operator/calls", "calls", 1).remove(0);
    assert_eq!((&running["tool"], &running["session"]), (&json!(SHELL), &json!("work")), "{running}");
    let process = host.until("/v1/operator/processes", "processes", 1).remove(0);
    assert_eq!((&process["plugin"], &process["session"]), (&json!("workspace"), &json!("work")), "{process}");
    let output = format!("/v1/operator/processes/{}/output", process["id"].as_str().expect("an id"));
    let printed = blocking::until("it has printed", || {
        let printed = host.get(&output);
        if printed["text"] == json!("begun\n") { Ok(printed) } else { Err(printed) }
    });
    let next = printed["next"].as_u64().expect("a cursor");
    assert_eq!(host.get(&format!("{output}?from={next}"))["text"], json!(""));

    let report = host.get("/v1/operator/hosts")["hosts"][0].clone();
    assert!(report["calls_running"].as_u64() >= Some(1) && report["version"].is_string(), "{report}");
    let path = format!("/v1/operator/calls/{}", running["id"].as_str().expect("an id"));
    assert_eq!(host.ask("DELETE", &path, None).status, 204);
    let ended = replied(call).said();
    assert!(ended.is_none_or(|ended| ended.to_string().contains("cancelled")));
    host.until("/v1/operator/calls", "calls", 0);
    assert_eq!(host.ask("DELETE", &path, None).status, 404, "it has ended");

    // A process that runs on beside calls.
    let started = replied(host.call("work", SHELL, &in_background("sleep 1000"))).message();
    assert_ne!(started["result"]["isError"], json!(true), "{started}");
    let is_running = |process: &Value| process["status"] == json!("running");
    let process = blocking::until("it runs", || {
        let all = host.get("/v1/operator/processes")["processes"].as_array().cloned().unwrap_or_default();
        all.iter().find(|process| is_running(process)).cloned().ok_or(all)
    });
    let path = format!("/v1/operator/processes/{}", process["id"].as_str().expect("an id"));
    let ended = host.ask("DELETE", &format!("{path}?grace_ms=100"), None);
    assert_eq!((ended.status, &ended.json()["status"]), (200, &json!("killed")), "{ended:?}");
}

#[test]
fn a_process_is_looked_at_with_its_bounds_and_its_tree() {
    let host = Operated::start("profile = \"developer\"\n");
    let command = in_background("sh -c 'sleep 1234 & wait' left & sleep 2345; true");
    let started = replied(host.call("work", SHELL, &command)).message();
    assert_ne!(started["result"]["isError"], json!(true), "{started}");
    let process = host.until("/v1/operator/processes", "processes", 1).remove(0);
    let path = format!("/v1/operator/processes/{}", process["id"].as_str().expect("an id"));
    let (look, members) = blocking::until("all of it runs", || {
        let look = host.get(&path);
        let members = look["tree"].as_array().cloned().unwrap_or_default();
        if members.iter().filter(|one| one["name"] == json!("sleep")).count() == 2 {
            Ok((look.clone(), members))
        } else {
            Err(look)
        }
    });
    let of = |command: &str| members.iter().find(|one| one["command"] == json!(command)).expect(command);
    let (leader, far) = (&look["process"]["pid"], of("sleep 1234"));
    assert_eq!(&of("sleep 2345")["parent"], leader, "{members:?}");
    let between = members.iter().find(|one| one["pid"] == far["parent"]).expect("the parent of a sleeper");
    assert_eq!((&between["parent"], &between["name"]), (leader, &json!("sh")), "{members:?}");
    assert!(far["resident_bytes"].as_u64() > Some(0) && far["threads"] == json!(1), "{far}");

    assert!(look["limits"]["seconds"].as_u64() > Some(0) && look["limits"]["memory_bytes"].is_u64(), "{look}");
    let containment = &look["containment"];
    assert!(["namespaces", "landlock"].map(Value::from).contains(&containment["mechanism"]), "{look}");
    assert_eq!(containment["network"], json!(false), "{look}");
    let writable = containment["writable"].as_array().expect("paths");
    assert!(writable.iter().any(|path| path.as_str().is_some_and(|path| path.contains("/workspaces/"))), "{look}");

    assert_eq!(host.ask("DELETE", &format!("{path}?grace_ms=100"), None).status, 200);
    blocking::until("nothing of it runs", || {
        let look = host.get(&path);
        if look["tree"] == json!([]) { Ok(()) } else { Err(look) }
    });
    assert_eq!(host.get(&path)["limits"], look["limits"], "they are still told");
    assert_eq!(host.ask("GET", &format!("{path}x"), None).status, 404);
}

#[test]
fn a_plugin_is_looked_at_with_its_origin_its_pin_and_its_limits() {
    let digest = format!("blake3:{}", "0".repeat(64));
    let lines =
        format!("[plugin.planning]\ndigest = \"{digest}\"\n[plugin.planning.limits]\nmemory_bytes = 33554432\n");
    let host = Operated::start(&lines);
    let look = host.get("/v1/operator/plugins/planning");
    assert_eq!((&look["pin"], &look["confirmed"], &look["source"]), (&json!("digest"), &json!(digest), &Value::Null));
    let contract = look["contract"].as_array().expect("packages");
    assert!(contract.iter().all(|one| one.as_str().is_some_and(|one| one.starts_with("wharf:plugin@0."))), "{look}");
    assert!(!contract.is_empty(), "{look}");
    let limit = |name: &str| {
        let limits = look["limits"].as_array().expect("limits");
        let limit = limits.iter().find(|limit| limit["name"] == json!(name)).expect(name);
        (limit["value"].as_u64().expect("a number"), limit["default"].as_u64().expect("a number"))
    };
    assert_eq!(limit("memory_bytes"), (32 << 20, 64 << 20));
    assert_eq!(limit("host_calls").0, limit("host_calls").1);
    assert_eq!(host.ask("GET", "/v1/operator/plugins/nobody", None).status, 404);
}

#[test]
fn a_terminal_of_an_agent_is_seen_live_and_taken_over() {
    let setup = Setup::bare().own_terminals("shell = true\nprograms = [\"sh\"]");
    let host = Operated::of(Server::start(&setup));
    let id = host.server.shell("s")["terminal"].as_str().expect("an id").to_owned();
    let listed = host.get("/v1/operator/terminals")["terminals"][0].clone();
    assert_eq!((&listed["id"], &listed["session"], &listed["plugin"]), (&json!(id), &json!("s"), &json!("host")));
    let path = format!("/v1/operator/terminals/{id}");
    let mut seen = host.follow(&path);
    let screen = seen.event().expect("the screen");
    assert_eq!((screen.kind.as_str(), &screen.data["columns"]), ("screen", &json!(80)), "{screen:?}");

    let content = STANDARD.encode("echo by''hand\n");
    let typed = host.ask("POST", &format!("{path}/input"), Some(json!({"content": content})));
    assert_eq!(typed.status, 204, "{typed:?}");
    let mut text = String::new();
    while !text.contains("byhand") {
        let event = seen.event().expect("more comes");
        text.push_str(event.data["text"].as_str().unwrap_or_default());
    }
    // The agent sees it, too.
    let read = blocking::until("the agent sees it", || {
        let read = host.server.ask("GET", &format!("/v1/terminals/{id}/screen"), "s", None).body;
        if read.contains("byhand") { Ok(read) } else { Err(read) }
    });
    assert!(read.contains("echo by"), "{read}");
    let size = json!({"columns": 100, "rows": 30});
    assert_eq!(host.ask("POST", &format!("{path}/resize"), Some(size)).status, 204);
    loop {
        let event = seen.event().expect("the size");
        if event.kind == "resize" {
            assert_eq!(event.data, json!({"columns": 100, "rows": 30}));
            break;
        }
    }
    assert_eq!(host.ask("POST", &format!("{path}/resize"), Some(json!({"columns": 0, "rows": 1}))).status, 400);

    // While a turn runs, what is typed would be a part of it.
    let turn = json!({"text": "read line; echo got $line", "submit": true});
    assert_eq!(host.server.ask("POST", &format!("/v1/terminals/{id}/turns"), "s", Some(turn)).status, 202);
    let content = STANDARD.encode("help\n");
    let refused = host.ask("POST", &format!("{path}/input"), Some(json!({"content": content})));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(
        host.ask("POST", &format!("{path}/input"), Some(json!({"content": content, "force": true}))).status,
        204
    );
    let closed = host.ask("DELETE", &format!("{path}?grace_ms=100"), None);
    assert_eq!((closed.status, closed.json()["ended"].is_string()), (200, true), "{closed:?}");
    while let Some(event) = seen.event() {
        if event.kind == "end" {
            return;
        }
    }
    panic!("its end is not told");
}

#[test]
fn what_is_followed_comes_again_when_it_has_changed() {
    let host = Operated::start("profile = \"developer\"\n");
    let mut events = host.follow("/v1/operator/events?topics=plugins,processes");
    let (mut plugins, mut processes) = (0, 0);
    while (plugins, processes) != (1, 1) {
        match events.event().expect("a copy of each").kind.as_str() {
            "plugins" => plugins += 1,
            "processes" => processes += 1,
            _ => {}
        }
    }
    let ran = replied(host.call("s", SHELL, &command("true"))).message();
    assert_ne!(ran["result"]["isError"], json!(true), "{ran}");
    let next = events.event().expect("what has changed");
    assert_eq!(next.kind, "processes", "and not what has not: {next:?}");
    let wrong = host.ask("GET", "/v1/operator/events?topics=plugins,secrets", None);
    assert!(wrong.status == 400 && wrong.body.contains("approvals"), "{wrong:?}");
}

#[test]
fn lines_of_the_audit_are_found_by_what_they_say() {
    let host = Operated::start("profile = \"developer\"\n");
    for session in ["one", "two"] {
        let _ = replied(host.call(session, SHELL, &command("true"))).message();
    }
    let call = blocking::until("the audit has it", || {
        let lines =
            host.get("/v1/operator/audit?kind=call&session=two")["lines"].as_array().cloned().unwrap_or_default();
        if lines.len() == 1 { Ok(lines[0].clone()) } else { Err(lines) }
    });
    assert_eq!((&call["plugin"], &call["tool"]), (&json!("workspace"), &json!("execute_shell")), "{call}");
    let story = host.get(&format!("/v1/operator/audit?id={}", call["id"].as_str().expect("an id")));
    let story = story["lines"].as_array().expect("lines").clone();
    assert!(story.iter().any(|line| line["kind"] == json!("host-call")), "with what it asked for: {story:?}");
    assert!(story.iter().all(|line| line["session"] == json!("two")));
    assert_eq!(host.get("/v1/operator/audit?last=1")["lines"].as_array().map(Vec::len), Some(1));
    let wrong = host.ask("GET", "/v1/operator/audit?since=yesterday", None);
    assert!(wrong.status == 400 && wrong.body.contains("since"), "{wrong:?}");
}

#[test]
fn hosts_on_one_data_directory_show_together_and_are_steered_from_one() {
    let host = Operated::start("profile = \"developer\"\n[approvals]\napprove = [\"workspace__execute_shell\"]\n");
    let data = &host.server.data;
    let other =
        wharf(["serve", "--stdio", "--session", "desk"]).config(&data.path().join("wharf.toml")).data(data.path());
    let mut agent = Client::connect(other);
    let hosts = host.until("/v1/operator/hosts", "hosts", 2);
    assert_eq!(hosts[0]["pid"], json!(host.server.id()), "the one that answers is the first");
    let start = json!({"name": SHELL, "arguments": in_background("echo there; sleep 1000")});
    let asked = agent.ask("tools/call", start);
    let waiting = host.until("/v1/operator/approvals", "approvals", 1).remove(0);
    assert_eq!(waiting["session"], json!("desk"), "{waiting}");
    let path = format!("/v1/operator/approvals/{}", waiting["id"].as_str().expect("an id"));
    assert_eq!(host.ask("POST", &path, Some(json!({"answer": "once"}))).status, 200);
    let started = agent.answer(asked)["result"].clone();
    assert_ne!(started["isError"], json!(true), "{started}");

    let process = host.until("/v1/operator/processes", "processes", 1).remove(0);
    let path = format!("/v1/operator/processes/{}", process["id"].as_str().expect("an id"));
    blocking::until("what it prints is read", || {
        let read = host.get(&format!("{path}/output"));
        if read["text"] == json!("there\n") { Ok(()) } else { Err(read) }
    });
    let sessions = host.get("/v1/operator/sessions");
    let desk = sessions["sessions"].as_array().expect("a list").iter().find(|one| one["session"] == json!("desk"));
    let desk = desk.unwrap_or_else(|| panic!("{sessions}"));
    assert_eq!((&desk["processes"], desk["file_bytes"].is_u64()), (&json!(1), true), "{desk}");

    let desk = json!({"tenant": "local", "session": "desk"});
    let removed = host.ask("POST", "/v1/operator/sessions/remove-files", Some(desk.clone()));
    assert_eq!(removed.status, 409, "it is in use: {removed:?}");
    let ended = host.ask("POST", "/v1/operator/sessions/end", Some(desk));
    assert_eq!((ended.status, ended.json()), (200, json!({"ended": 1})));
    let ended = host.until("/v1/operator/processes", "processes", 1).remove(0);
    assert_eq!(ended["status"], json!("killed"), "{ended}");
    drop(agent);
    host.until("/v1/operator/hosts", "hosts", 1);
    let allowed = blocking::until("the audit has it", || {
        let lines = host.get("/v1/operator/audit?kind=operator")["lines"].as_array().cloned().unwrap_or_default();
        let allowed: Vec<_> = lines.into_iter().filter(|line| line["function"] == "allow").collect();
        if allowed.is_empty() { Err(allowed) } else { Ok(allowed) }
    });
    let outcomes: Vec<_> = allowed.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes, ["ok"], "the host that was asked first did not have the call: {allowed:?}");
}

/// Longer than any list is old.
const QUIET: Duration = Duration::from_secs(2);

#[test]
fn a_reader_that_reads_nothing_keeps_nobody_waiting() {
    let host = Operated::start("profile = \"developer\"\n");
    // Their sockets fill up, and nobody empties them.
    let path = "/v1/operator/events?topics=hosts,calls,processes,plugins";
    let slow: Vec<_> = (0..20).map(|_| host.send("GET", path, &host.bearer(), "")).collect();
    let began = std::time::Instant::now();
    while began.elapsed() < QUIET {
        let ran = replied(host.call("s", SHELL, &command("true"))).message();
        assert_ne!(ran["result"]["isError"], json!(true), "{ran}");
    }
    assert_eq!(host.get("/v1/operator/hosts")["hosts"][0]["calls_running"], json!(0));
    drop(slow);
}
