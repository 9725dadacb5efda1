//! What a plugin has left where it is taken away.

use serde_json::{Value, json};
use wharf::{Code, stream::StreamId};
use wharf_tests::{Fixture, Setup, component, context, found, lives, until};

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
