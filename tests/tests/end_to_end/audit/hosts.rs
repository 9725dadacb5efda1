//! Several hosts: none writes into another's file, none mixes with another, and
//! a killed one loses no whole line.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::json;
use wharf::{
    CallRequest, Host,
    audit::{AuditRecord, AuditSink, directory},
};
use wharf_tests::{Client, Data, Setup, blocking, context, object, wharf};

use super::{lines, read};

#[derive(Default)]
struct Kept(Mutex<Vec<AuditRecord>>);

impl Kept {
    fn sessions(&self) -> Vec<String> {
        let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().filter_map(|record| Some(record.subject.context.as_ref()?.session.to_string())).collect()
    }
}

impl AuditSink for Kept {
    fn record(&self, record: AuditRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

fn echo(session: &str) -> CallRequest {
    CallRequest::new(context("local", session), "echo__echo", object(json!({"text": "x"})))
}

#[tokio::test]
async fn an_app_takes_the_records_itself_and_two_hosts_in_one_process_do_not_mix() {
    let (one, other) = (Arc::new(Kept::default()), Arc::new(Kept::default()));
    let (data, configuration) = (Data::new(), Setup::new().configuration());
    let open = |sink: &Arc<Kept>| Host::builder(configuration.clone()).data(data.path()).audit(sink.clone()).open();
    let first = open(&one).await.expect("opens");
    let second = open(&other).await.expect("opens");
    first.call(echo("first")).await.expect("answers");
    second.call(echo("second")).await.expect("answers");
    second.call(echo("second")).await.expect("answers");
    assert!(one.sessions().iter().all(|session| session == "first") && !one.sessions().is_empty());
    assert!(other.sessions().iter().all(|session| session == "second"));
    let counted = |host: &Host| {
        let metrics = host.metrics();
        let line =
            metrics.lines().find(|line| line.starts_with("wharf_calls_total{plugin=\"echo\"")).map(str::to_owned);
        line.expect("a count")
    };
    assert!(counted(&first).ends_with(" 1") && counted(&second).ends_with(" 2"));
    assert!(!directory(data.path()).exists(), "the app's sink is instead of files");
}

#[tokio::test]
async fn two_hosts_on_one_data_directory_write_two_files() {
    let (data, configuration) = (Data::new(), Setup::new().configuration());
    let open = || Host::open(configuration.clone(), data.path());
    let (first, second) = (open().await.expect("opens"), open().await.expect("opens"));
    for _ in 0..50 {
        first.call(echo("first")).await.expect("answers");
        second.call(echo("second")).await.expect("answers");
    }
    first.shut_down(Duration::ZERO).await;
    second.shut_down(Duration::ZERO).await;
    let files: Vec<_> = fs::read_dir(directory(data.path())).expect("there").flatten().collect();
    assert_eq!(files.len(), 2);
    for file in files {
        let text = fs::read_to_string(file.path()).expect("text");
        assert_ne!(text.contains("\"session\":\"first\""), text.contains("\"session\":\"second\""), "{text}");
    }
    let lines = lines(data.path());
    for session in ["first", "second"] {
        assert_eq!(lines.iter().filter(|line| line.session == session && line.kind == "call").count(), 50);
    }
    assert!(lines.is_sorted_by(|one, next| one.time <= next.time));
}

#[test]
fn a_killed_host_leaves_whole_lines_and_the_next_one_goes_on_behind_them() {
    let data = Data::new();
    let configuration = data.write("wharf.toml", Setup::new().text());
    // A host that compiles plugins writes that, too: all data directories of tests share what is compiled.
    let compiled = wharf(["tools"]).data(Data::new().path()).config(&configuration).run();
    assert_eq!(compiled.code, Some(0), "{compiled:?}");
    let command = || wharf(["serve", "--stdio"]).data(data.path()).config(&configuration);
    let kill_after = |calls: usize| {
        let (before, mut client) = (read(data.path()).0.len(), Client::connect(command()));
        for _ in 0..calls {
            client.call("echo__echo", json!({"text": "x"}), json!({}));
        }
        // The lines are on their way; a host that is killed may lose the last.
        blocking::until("a line comes", || read(data.path()).0.len() != before);
        client.kill();
    };
    kill_after(20);
    let (left, _) = read(data.path());
    assert!(left.iter().all(|line| line.kind == "call" || line.kind == "host-call"), "{left:?}");
    // As a kill in the middle of a write would leave it.
    let file = fs::read_dir(directory(data.path())).expect("there").flatten().next().expect("one file").path();
    let mut torn = OpenOptions::new().append(true).open(&file).expect("writable");
    torn.write_all(b"{\"time\":\"2026-01-01T00:00:00.0").expect("written");
    drop(torn);

    kill_after(5);
    let shown = wharf(["audit", "--json"]).data(data.path()).config(&configuration).run();
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.err.contains("1 damaged line(s) were skipped"), "{}", shown.err);
    assert!(shown.out.lines().count() >= left.len(), "{}", shown.out);
    assert!(shown.out.lines().all(|line| line.starts_with("{\"time\":\"20") && line.ends_with('}')), "{}", shown.out);
    assert_eq!(fs::read_dir(directory(data.path())).expect("there").count(), 1, "the next host went on with it");
}
