//! Processes and files of a session through the whole host, by a guest that
//! speaks the raw contract.

mod files;
mod granted;
mod lost;
mod owners;
mod polls;
mod removal;

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, context, found};

/// The session of these tests, unless they need several.
fn here() -> Context {
    context("local", "test")
}

/// Starts a text of the shell and returns the id.
async fn shell(fixture: &Fixture, context: &Context, text: &str) -> String {
    let started = found(fixture.call_in(context, "hostile__start_process", json!({"shell": text})).await);
    started["ok"]["id"].as_str().unwrap_or_else(|| panic!("not started: {started}")).to_owned()
}

/// Calls one function of the interface.
async fn ask(fixture: &Fixture, context: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "id": id});
    for (name, value) in wharf_tests::object(more) {
        arguments[name] = value;
    }
    found(fixture.call_in(context, "hostile__ask_process", arguments).await)
}

/// Waits for the end of a process and returns what became of it.
async fn ended(fixture: &Fixture, context: &Context, id: &str) -> Value {
    loop {
        let waited = ask(fixture, context, "wait", id, json!({"number": 20_000})).await;
        if waited["ok"]["reason"] == "exit" {
            return waited["ok"]["process"].clone();
        }
        assert_eq!(waited["ok"]["reason"], "time-up", "{waited}");
    }
}

/// What a text of the shell prints, once it has ended.
async fn printed(fixture: &Fixture, context: &Context, text: &str) -> String {
    let id = shell(fixture, context, text).await;
    ended(fixture, context, &id).await;
    let polled = ask(fixture, context, "poll", &id, json!({"number": 65_536})).await;
    format!("{}{}", polled["ok"]["stdout"].as_str().expect("a text"), polled["ok"]["stderr"].as_str().expect("a text"))
}
