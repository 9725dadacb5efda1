//! What a plugin has left where it is taken away.

use serde_json::{Value, json};
use wharf::{Code, stream::StreamId};
use wharf_tests::{Fixture, Setup, Site, component, context, found, lives, until};

/// Calls one function of the raw contract.
async fn ask(fixture: &Fixture, tool: &str, arguments: Value) -> Value {
    found(fixture.call(&format!("hostile__{tool}"), arguments).await)
}

/// A command that lasts, and that no other test runs.
fn lasting(number: u32) -> String {
    format!("exec sleep 1{}{number}", std::process::id())
}

fn runs(command: &str) -> bool {
    // Arguments stand behind each other with a zero between.
    lives(&command.replacen("exec ", "", 1).replace(' ', "\0"))
}

#[tokio::test]
async fn processes_terminals_and_streams_of_a_plugin_end_with_it_and_those_of_others_do_not() {
    let [process, terminal, kept] = [1, 2, 3].map(lasting);
    let grant = "programs = [\"sh\"]";
    let other = format!("[plugin.other.grants.terminal]\nreason = \"a test\"\n{grant}");
    let setup = Setup::new().processes("shell = true").terminals(grant).events();
    let fixture = setup.plugin("other", &component("guest-hostile"), &other).open().await;
    let in_terminal = |command: &str| json!({"program": "sh", "arguments": ["-c", command]});
    let stream = ask(&fixture, "open_stream", json!({"title": "a test"})).await;
    ask(&fixture, "start_process", json!({"shell": process})).await;
    ask(&fixture, "start_terminal", in_terminal(&terminal)).await;
    found(fixture.call("other__start_terminal", in_terminal(&kept)).await);
    until("all of it runs", || [&process, &terminal, &kept].iter().all(|command| runs(command))).await;
    let id: StreamId = stream["ok"].as_str().expect("a stream").parse().expect("an id");
    let reader = fixture.host.streams().reader(&context("local", "test"), id).expect("it is there");

    fixture.host.unload_plugin(&"hostile".parse().expect("legal")).expect("it was there");
    until("what it had left has ended", || !runs(&process) && !runs(&terminal)).await;
    until("its stream has ended", || reader.info().ended.is_some()).await;
    assert!(runs(&kept), "it is of another plugin");
    let error = fixture.call("hostile__remaining", json!({"milliseconds": 0})).await.expect_err("it is gone");
    assert_eq!(error.code, Code::NotFound);
    fixture.works().await;
}

/// Calls one function of web pages.
async fn ask_page(fixture: &Fixture, plugin: &str, arguments: Value) -> Value {
    found(fixture.call(&format!("{plugin}__ask_page"), arguments).await)
}

/// A page of a plugin that shows the site, and waits for it for ever.
async fn waiting_page(fixture: &Fixture, plugin: &str, site: &Site) -> String {
    let opened = ask_page(fixture, plugin, json!({"function": "open"})).await;
    let id = opened["ok"]["id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let parameters = json!({"url": site.at("/")}).to_string();
    let carry_out = json!({"function": "carry-out", "id": id, "operation": "navigate", "parameters": parameters});
    let there = ask_page(fixture, plugin, carry_out).await;
    assert_eq!(there["ok"]["state"], "done", "{there}");
    let waiting = site.waiting();
    let script = json!({"function": "execute", "id": id, "script": "return fetch('/silence')"});
    ask_page(fixture, plugin, script).await;
    until("the page waits", || site.waiting() > waiting).await;
    id
}

#[tokio::test]
async fn pages_of_a_plugin_end_with_it_and_those_of_others_do_not() {
    let site = Site::start();
    let grant = format!("origins = [\"{}\"]\nprivate_addresses = true", site.origin());
    let other = format!("[plugin.other.grants.webview]\nreason = \"a test\"\n{grant}");
    let setup = Setup::new().webviews(&grant).plugin("other", &component("guest-hostile"), &other);
    let fixture = setup.open().await;
    let (gone, kept) = (waiting_page(&fixture, "hostile", &site).await, waiting_page(&fixture, "other", &site).await);
    assert_eq!((site.waiting(), fixture.host.running()), (2, 2));

    fixture.host.unload_plugin(&"hostile".parse().expect("legal")).expect("it was there");
    until("its page is closed in the browser, too", || site.waiting() == 1).await;
    until("its page counts no longer", || fixture.host.running() == 1).await;
    let there = ask_page(&fixture, "other", json!({"function": "get", "id": kept})).await;
    assert_eq!(there["ok"]["status"], "ready", "it is of another plugin: {there}");
    assert_eq!(site.waiting(), 1, "and goes on");

    fixture.host.reload_plugins().await.expect("it comes back");
    let asked = ask_page(&fixture, "hostile", json!({"function": "get", "id": gone})).await;
    assert_eq!(asked["ok"]["status"], "closed", "the next of its name has none of it: {asked}");
}
