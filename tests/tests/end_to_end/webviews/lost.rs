//! The host or the browser dies: nothing lives on, nothing is left, and
//! waiting callers are told.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use wharf_tests::{Client, Data, Site, blocking, lives, wharf};

use super::{closed, here, ok, page_at, value, visits, waited};

/// A directory for the browser's own, which its user can reach.
pub(crate) fn scratch() -> TempDir {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o711)).expect("it is ours");
    scratch
}

/// How many things are there.
pub(super) fn left(scratch: &TempDir) -> usize {
    std::fs::read_dir(scratch.path()).expect("it is there").count()
}

/// The browser's own process, the first of those that name the directory.
pub(crate) fn browser(scratch: &TempDir) -> Option<Pid> {
    let mark = format!("--user-data-dir={}", scratch.path().display());
    let of = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let pid = entry.file_name().to_str()?.parse().ok()?;
        (line.contains(&mark) && !line.contains("--type=")).then_some(pid)
    };
    std::fs::read_dir("/proc").expect("there is /proc").flatten().filter_map(of).max().and_then(Pid::from_raw)
}

fn call(client: &mut Client, arguments: Value) -> Value {
    let id = client.ask("tools/call", json!({"name": "hostile__ask_page", "arguments": arguments}));
    let answer = client.answer(id);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no report: {text}"))
}

#[test]
fn no_browser_outlives_a_killed_host_and_the_next_one_finds_no_folder() {
    let (site, data, scratch) = (Site::start(), Data::new(), scratch());
    let table = format!("[webview]\ntemporary = '{}'", scratch.path().display());
    let configuration = data.write("wharf.toml", visits(&site, "").with_tables(&table).text());
    let start = || Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    let mark = scratch.path().display().to_string();
    let visit = |client: &mut Client| {
        let opened = call(client, json!({"function": "open"}));
        let id = opened["ok"]["id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
        let parameters = json!({"url": site.at("/")}).to_string();
        let carry_out = json!({"function": "carry-out", "id": id, "operation": "navigate", "parameters": parameters});
        let there = call(client, carry_out);
        assert_eq!(there["ok"]["state"], "done", "{there}");
        id
    };
    let mut client = start();
    let id = visit(&mut client);
    call(&mut client, json!({"function": "execute", "id": id, "script": "for (;;) {}"}));
    assert!(lives(&mark), "the browser runs with a profile there");
    client.kill();
    blocking::until("nothing outlives the host", || !lives(&mark));
    assert!(left(&scratch) > 0, "a killed host cannot tidy up");
    // The next one does, and its pages are new.
    let mut client = start();
    let asked = call(&mut client, json!({"function": "get", "id": id}));
    assert_eq!(asked["refused"]["code"], "not-found", "{asked}");
    visit(&mut client);
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(left(&scratch), 0, "{log}");
    assert!(!lives(&mark));
}

#[tokio::test]
async fn a_killed_browser_is_told_and_started_again_with_the_next_page() {
    let (site, scratch) = (Site::start(), scratch());
    let table = format!("[webview]\ntemporary = '{}'", scratch.path().display());
    let fixture = visits(&site, "").with_tables(&table).open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let more = json!({"script": "new Promise(() => {})", "milliseconds": 300_000});
    let request = ok(&fixture, &here(), "execute", &id, more).await;
    kill_process(browser(&scratch).expect("a browser runs"), Signal::KILL).expect("it can be killed");
    let outcome = waited(&fixture, &here(), &request).await;
    assert_eq!(outcome["kind"], "backend-gone", "{outcome}");
    let info = closed(&fixture, &here(), &id).await;
    assert_eq!(info["because"], "backend-gone", "{info}");
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    assert_eq!(value(&fixture, &here(), &id, "document.title").await, "Harbour");
}
