//! What happened, as the operator reads it afterwards: lines of real hosts with
//! real guests, and the numbers that Prometheus sees.

mod command;
mod floods;
mod hosts;
mod recorded;
mod sent;
mod verified;
mod who;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use serde_json::{Value, json};
use wharf::audit::{AuditEntry, AuditReader, directory};
use wharf_tests::{Fixture, Setup, context, found, let_time_pass, until};

/// Every line of a data directory, none of them damaged.
pub(crate) fn lines(data: &Path) -> Vec<AuditEntry> {
    let (lines, skipped) = read(data);
    assert_eq!(skipped, 0);
    lines
}

/// Every line of a data directory, and how many were damaged.
fn read(data: &Path) -> (Vec<AuditEntry>, u64) {
    let mut reader = AuditReader::new(&directory(data), None);
    let mut lines = Vec::new();
    let keep = |entry| {
        lines.push(entry);
        true
    };
    reader.read(keep).expect("the lines can be read");
    (lines, reader.skipped())
}

/// Closes the host, and reads what it has left.
async fn closed(fixture: Fixture) -> (Vec<AuditEntry>, wharf_tests::Data) {
    let Fixture { host, data } = fixture;
    host.shut_down(Duration::ZERO).await;
    (lines(data.path()), data)
}

/// Those that one call of this tool left, the call itself last.
fn of_tool<'l>(lines: &'l [AuditEntry], tool: &str) -> Vec<&'l AuditEntry> {
    lines.iter().filter(|line| line.tool == tool).collect()
}

/// Everything that the files hold, as it stands.
fn raw(data: &Path) -> String {
    let files = fs::read_dir(directory(data)).expect("there is a directory");
    files.map(|file| fs::read_to_string(file.expect("readable").path()).expect("text")).collect()
}

#[tokio::test]
async fn each_call_and_each_thing_it_asked_for_is_one_line_of_names_and_sizes() {
    let setup = Setup::new().state("").processes("programs = [\"true\"]");
    let fixture = setup.open().await;
    let full = wharf::Context {
        assistant: Some("helper".parse().expect("legal")),
        thread: Some("t-1".parse().expect("legal")),
        ..context("local", "s-1")
    };
    let arguments = json!({"scope": "session", "key": "payload-key", "value": "payload-value"});
    fixture.call_in(&full, "hostile__state_put", arguments).await.expect("written");
    let arguments = json!({"program": "forbidden-program", "arguments": ["payload-argument"]});
    fixture.call_in(&full, "hostile__start_process", arguments).await.ok();
    fixture.call_in(&full, "hostile__start_process", json!({"shell": "echo payload-shell"})).await.ok();
    fixture.call_in(&full, "echo__echo", json!({"wrong": "payload"})).await.expect_err("breaks the schema");
    fixture.call_in(&full, "hostile__error_answer", json!({"text": "payload"})).await.expect("an answer");
    let (lines, data) = closed(fixture).await;

    let put = of_tool(&lines, "state_put");
    let call = put.last().expect("a line of the call");
    assert_eq!((call.kind.as_str(), call.outcome.as_str(), call.plugin.as_str()), ("call", "ok", "hostile"));
    assert_eq!([&call.tenant, &call.session, &call.assistant, &call.thread], ["local", "s-1", "helper", "t-1"]);
    assert!(call.digest.starts_with("blake3:") && call.microseconds > 0, "{call:?}");
    assert!(call.bytes_in > 30 && call.bytes_out > 0, "{call:?}");
    let open = put.iter().find(|line| line.function == "state.bucket.open").expect("it opened a bucket");
    assert_eq!((open.kind.as_str(), open.outcome.as_str()), ("host-call", "ok"));
    assert!(open.asked.starts_with("session/"), "{open:?}");
    let apply = put.iter().find(|line| line.function == "state.bucket.apply").expect("it wrote");
    assert_eq!(apply.bytes_in, ("payload-key".len() + "payload-value".len()) as u64);
    assert_eq!(apply.asked, open.asked);
    assert!(put.iter().all(|line| line.id == call.id && line.session == "s-1"), "{put:?}");

    let denied: Vec<_> = lines.iter().filter(|line| line.kind == "denied").collect();
    let words = |line: &AuditEntry| (line.function.clone(), line.asked.clone(), line.outcome.clone());
    let told = |function: &str, asked: &str| (function.to_owned(), asked.to_owned(), "denied".to_owned());
    assert_eq!(
        denied.iter().map(|line| words(line)).collect::<Vec<_>>(),
        [told("process.spawn", "forbidden-program"), told("process.spawn-shell", "shell")]
    );
    assert_eq!(of_tool(&lines, "echo").last().expect("a line").outcome, "invalid");
    assert_eq!(of_tool(&lines, "error_answer").last().expect("a line").outcome, "tool-error");

    assert!(!raw(data.path()).contains("payload"), "no argument, no answer, no key");
    let files: Vec<_> = fs::read_dir(directory(data.path())).expect("there").flatten().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().expect("is there").permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_call_says_how_much_memory_it_had_also_where_it_did_not_end_well() {
    let fixture = Setup::new().open().await;
    for bytes in [1_u64 << 20, 16 << 20] {
        fixture.call("hostile__allocate", json!({ "bytes": bytes })).await.expect("it got that much");
    }
    fixture.call("hostile__allocate_or_die", json!({ "bytes": 4_000_000_000_u64 })).await.expect_err("it died");
    fixture.call("echo__echo", json!({"wrong": "no instance is made"})).await.expect_err("breaks the schema");
    let (lines, _data) = closed(fixture).await;
    let had: Vec<_> = of_tool(&lines, "allocate").iter().map(|line| line.memory_bytes).collect();
    assert!((1 << 20..8 << 20).contains(&had[0]) && (16 << 20..32 << 20).contains(&had[1]), "{had:?}");
    let died = of_tool(&lines, "allocate_or_die").last().map(|line| line.memory_bytes).unwrap_or_default();
    assert!((64 << 10..8 << 20).contains(&died), "what it did not get is not counted: {died}");
    assert_eq!(of_tool(&lines, "echo").last().map(|line| line.memory_bytes), Some(0));
}

#[tokio::test]
async fn no_import_of_the_contract_escapes_the_audit() {
    let fixture = Setup::new().open().await;
    fixture.call("hostile__probe_imports", json!({})).await.expect("a report");
    fixture.call("hostile__ask_page", json!({"function": "list"})).await.ok();
    let metrics = fixture.host.metrics();
    let (lines, _data) = closed(fixture).await;
    let probed: Vec<_> = lines.iter().filter(|line| !line.function.is_empty()).collect();
    for interface in ["caller", "settings", "state", "events", "process", "terminal", "webview", "workspace"] {
        let of_interface = || probed.iter().filter(|line| line.function.split('.').next() == Some(interface));
        assert!(of_interface().count() > 0, "{interface}: {probed:#?}");
        // Every plugin has these two.
        let granted = matches!(interface, "caller" | "settings");
        assert!(of_interface().all(|line| (line.kind == "host-call") == granted), "{interface}: {probed:#?}");
        let counted = format!("wharf_denials_total{{plugin=\"hostile\",capability=\"{interface}\"}} ");
        assert_eq!(metrics.contains(&counted), !granted, "{interface}: {metrics}");
    }
}

#[tokio::test]
async fn hostile_names_start_no_line_and_steer_no_terminal() {
    let fixture = Setup::new().processes("programs = [\"true\"]").open().await;
    let forged = r#"{"time":"2026-01-01T00:00:00.000Z","kind":"call","tool":"forged"}"#;
    let hostile = format!("x\n{forged}\r\n\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\u{0}");
    for name in [hostile.clone(), hostile.repeat(10_000)] {
        fixture.call("hostile__start_process", json!({ "program": name })).await.ok();
        fixture.call("hostile__log", json!({"level": name, "message": "m"})).await.ok();
        fixture.call(&name, json!({})).await.expect_err("there is no such tool");
    }
    let metrics = fixture.host.metrics();
    assert!(!metrics.contains("forged") && !metrics.contains('\u{1b}'), "{metrics}");
    let (lines, data) = closed(fixture).await;
    let raw = raw(data.path());
    assert!(raw.lines().count() >= 10 && raw.ends_with('\n'));
    for line in raw.lines() {
        assert!(line.len() < 4_096, "{} bytes", line.len());
        assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()), "{line}");
        assert!(!line.contains(|character: char| character.is_control() || character == '\u{202e}'), "{line:?}");
    }
    assert!(lines.iter().all(|line| line.tool != "forged"));
    let unknown: Vec<_> = lines.iter().filter(|line| line.outcome == "not-found").collect();
    assert_eq!(unknown.len(), 2);
    assert!(unknown.iter().all(|line| line.plugin.is_empty() && line.tool.len() <= 128), "{unknown:?}");
}

#[tokio::test]
async fn a_call_that_was_given_up_or_stopped_is_over_in_the_audit_too() {
    let fixture = Setup::new().limit("wall_time_milliseconds", 60_000).open().await;
    let sleeping =
        |session: &str| fixture.start(&context("local", session), "hostile__sleep", json!({"milliseconds": 50_000}));
    let (dropped, cancelled) = (sleeping("dropped"), sleeping("cancelled"));
    fixture.load_is(2, 0).await;
    dropped.drop_it().await;
    cancelled.cancel.cancel();
    cancelled.outcome().await.expect_err("was taken back");
    fixture.call_in(&context("local", "trapped"), "hostile__trap", json!({})).await.expect_err("traps");
    until("the dropped call is gone", || fixture.host.load() == (0, 0)).await;
    let (lines, _data) = closed(fixture).await;
    for (session, outcome) in [("dropped", "cancelled"), ("cancelled", "cancelled"), ("trapped", "internal")] {
        let calls: Vec<_> = lines.iter().filter(|line| line.session == session && line.kind == "call").collect();
        assert_eq!(calls.len(), 1, "{session}: {lines:?}");
        assert_eq!(calls[0].outcome, outcome, "{session}");
    }
}

#[tokio::test]
async fn what_a_guest_waited_for_when_its_call_was_dropped_is_told_too() {
    let setup = Setup::new().processes("programs = [\"sleep\"]\nrequire_containment = false");
    let fixture = setup.open().await;
    let arguments = json!({"program": "sleep", "arguments": ["600"]});
    let started = found(fixture.call("hostile__start_process", arguments).await);
    let id = started["ok"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let arguments = json!({"function": "wait", "id": id, "number": 600_000});
    let told = |lines: &[AuditEntry]| {
        let waits = lines.iter().find(|line| line.function == "process.wait").cloned();
        waits.inspect(|wait| assert_eq!((wait.outcome.as_str(), &wait.asked), ("cancelled", &id)))
    };
    // Nobody can see from outside when the guest has got as far as to wait.
    let mut times = 0;
    while told(&lines(fixture.data.path())).is_none() {
        times += 1;
        assert!(times < 1_000, "no wait was told");
        let waiting = fixture.start(&context("local", "test"), "hostile__ask_process", arguments.clone());
        let_time_pass(Duration::from_millis(times.min(100)), "the call is taken back a little later each time").await;
        waiting.drop_it().await;
    }
    closed(fixture).await;
}

#[tokio::test]
async fn files_that_are_opened_made_and_renamed_are_told_without_their_paths() {
    let fixture = Setup::new().workspace("").open().await;
    found(fixture.call("hostile__ask_workspace", json!({"function": "create"})).await);
    found(fixture.call("hostile__make_directory", json!({"path": "/workspace/secret-name"})).await);
    found(fixture.call("hostile__write_file", json!({"path": "/workspace/secret-name/a"})).await);
    let rename = json!({"path": "/workspace/secret-name/a", "to": "/workspace/secret-name/b"});
    found(fixture.call("hostile__rename_file", rename).await);
    found(fixture.call("hostile__write_file", json!({"path": "/workspace/secret-name"})).await);
    let (lines, data) = closed(fixture).await;
    let outcomes = |function: &str| {
        let of_function = lines.iter().filter(|line| line.function == format!("filesystem.descriptor.{function}"));
        of_function.map(|line| line.outcome.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(outcomes("create-directory-at"), ["ok"]);
    assert_eq!(outcomes("rename-at"), ["ok"]);
    let opened = outcomes("open-at");
    assert!(opened.first() == Some(&"ok") && opened.last() != Some(&"ok"), "{opened:?}");
    assert!(!raw(data.path()).contains("secret-name"));
}

#[tokio::test]
async fn the_operator_says_what_is_kept() {
    let few = Setup::new().state("").with_tables("[audit]\nhost_calls = false").open().await;
    few.call("hostile__state_put", json!({"scope": "session", "key": "k", "value": "v"})).await.expect("written");
    few.call("hostile__start_process", json!({"program": "git"})).await.ok();
    let (lines, _data) = closed(few).await;
    let kinds: Vec<_> = lines.iter().filter(|line| line.kind != "call").map(|line| line.kind.as_str()).collect();
    assert_eq!(kinds, ["denied"]);
    assert_eq!(lines.iter().find(|line| line.kind == "denied").expect("one").asked, "git");

    let none = Setup::new().with_tables("[audit]\nenabled = false").open().await;
    none.works().await;
    let metrics = none.host.metrics();
    let Fixture { host, data } = none;
    host.shut_down(Duration::ZERO).await;
    assert!(!directory(data.path()).exists());
    assert!(metrics.contains(r#"wharf_calls_total{plugin="echo",tool="echo",outcome="ok"} "#), "{metrics}");
}
