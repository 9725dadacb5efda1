//! `wharf audit` and `/metrics`, by the real binary.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use wharf_tests::{Data, Finished, Server, Setup, start, wharf};

fn configured(data: &Data) -> PathBuf {
    data.write("wharf.toml", Setup::new().state("").text())
}

fn call(data: &Data, configuration: &Path, tool: &str, arguments: &Value, session: &str) {
    let arguments = arguments.to_string();
    let called = wharf(["call", tool, &arguments, "--session", session]).data(data.path()).config(configuration).run();
    assert!(called.code.is_some(), "{called:?}");
}

fn audit(data: &Data, configuration: &Path, arguments: &[&str]) -> Finished {
    let mut all = vec!["audit"];
    all.extend(arguments);
    let done = wharf(all).data(data.path()).config(configuration).run();
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    done
}

#[test]
fn the_operator_filters_follows_and_sums_up_what_happened() {
    let data = Data::new();
    let configuration = configured(&data);
    assert_eq!(audit(&data, &configuration, &[]).out, "There is nothing.\n");
    call(&data, &configuration, "echo__echo", &json!({"text": "payload"}), "one");
    call(&data, &configuration, "hostile__state_put", &json!({"scope": "session", "key": "k", "value": "v"}), "two");
    call(&data, &configuration, "hostile__start_process", &json!({"program": "git"}), "two");

    let table = audit(&data, &configuration, &[]).out;
    assert!(
        table.starts_with("time ") && table.contains("hostile__start_process process.spawn git  [local/two]"),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    let rows = |arguments: &[&str]| audit(&data, &configuration, arguments).out.lines().count().saturating_sub(1);
    assert_eq!(rows(&["--kind", "call"]), 3);
    assert_eq!(rows(&["--kind", "call", "--last", "2"]), 2);
    assert_eq!(rows(&["--session", "one"]), 1);
    assert_eq!(rows(&["--tool", "echo__echo"]), 1);
    assert_eq!(rows(&["--outcome", "denied", "--function", "process"]), 1);
    assert!(rows(&["--plugin", "hostile", "--function", "state"]) >= 2);
    assert_eq!(rows(&["--since", "1h", "--until", "30m"]), 0);
    assert_eq!(rows(&["--tenant", "somebody"]), 0);

    let denied = audit(&data, &configuration, &["--kind", "denied", "--json"]).out;
    let denied: Value = serde_json::from_str(&denied).expect("one line of JSON");
    let of_call = audit(&data, &configuration, &["--id", denied["id"].as_str().expect("an id"), "--json"]).out;
    assert!(
        of_call.lines().count() >= 2 && of_call.lines().last().is_some_and(|line| line.contains("\"kind\":\"call\""))
    );

    let summary = audit(&data, &configuration, &["summary", "--json", "--kind", "call"]).out;
    let groups: Vec<Value> = summary.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(groups.len(), 3, "{summary}");
    assert!(
        groups.iter().all(|group| group["count"] == 1 && group["p95_microseconds"].as_u64() > Some(0)),
        "{summary}"
    );
    let table = audit(&data, &configuration, &["summary"]).out;
    assert!(table.lines().any(|line| line.starts_with("denied") && line.contains("process.spawn")), "{table}");

    let wrong = wharf(["audit", "--since", "yesterday"]).data(data.path()).run();
    assert!(wrong.code == Some(2) && wrong.err.contains("write it like 15m"), "{wrong:?}");
}

#[test]
fn who_follows_sees_calls_as_they_end() {
    let data = Data::new();
    let configuration = configured(&data);
    let command = wharf(["audit", "--follow", "--json", "--kind", "call"]).data(data.path()).config(&configuration);
    let mut following = start(command);
    let mut lines = BufReader::new(following.stdout.take().expect("piped")).lines();
    for session in ["one", "two"] {
        call(&data, &configuration, "echo__echo", &json!({"text": "x"}), session);
        let line = lines.next().expect("it goes on").expect("text");
        assert!(line.contains(&format!("\"session\":\"{session}\"")), "{line}");
    }
    following.kill().expect("it runs");
    following.wait().expect("it ends");
}

#[test]
fn prometheus_reads_what_runs_and_what_was_called() {
    let server = Server::start(&Setup::bare().own_terminals("shell = true"));
    server.shell("secret-session");
    let served = server.ask("GET", "/metrics", "s", None);
    assert_eq!(served.status, 200, "{served:?}");
    for line in ["wharf_terminals_open 1", "wharf_calls_running 0", "wharf_audit_dropped_total 0", "# EOF"] {
        assert!(served.body.lines().any(|found| found == line), "{line}: {}", served.body);
    }
    for name in
        ["wharf_build_info{version=", "wharf_memory_resident_bytes ", "wharf_streams_open ", "wharf_plugins{state="]
    {
        assert!(served.body.lines().any(|line| line.starts_with(name)), "{name}: {}", served.body);
    }
    assert!(!served.body.contains("secret-session") && !served.body.contains("local"), "{}", served.body);
}
