//! Terminals through the whole host, by a guest that speaks the raw contract.

mod contained;
mod functions;
mod granted;
mod lost;
mod owners;
mod refused;
mod told;
mod turns;

use std::time::Instant;

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{AMPLE, Fixture, context, found, object, until_async};

/// The functions that take a terminal, with arguments that make sense.
const OF_ONE: [&str; 9] = ["get", "send", "follow", "cancel", "press", "screen", "read", "resize", "close"];

/// The session of these tests, unless they need several.
fn here() -> Context {
    context("local", "test")
}

/// Starts a program, or the shell where none is named.
async fn started(fixture: &Fixture, context: &Context, arguments: Value) -> Value {
    let mut started = found(fixture.call_in(context, "hostile__start_terminal", arguments).await);
    assert!(started["ok"].is_object(), "not started: {started}");
    started["ok"].take()
}

/// Starts the shell and returns the id.
async fn shell(fixture: &Fixture, context: &Context) -> String {
    id_of(&started(fixture, context, json!({})).await)
}

/// Starts a text of `sh` and returns the id.
async fn script(fixture: &Fixture, context: &Context, text: &str) -> String {
    let arguments = json!({"program": "sh", "arguments": ["-c", text], "options": "{\"restart\": \"never\"}"});
    id_of(&started(fixture, context, arguments).await)
}

fn id_of(started: &Value) -> String {
    started["terminal"]["id"].as_str().expect("an id").to_owned()
}

/// Calls one function of the interface.
async fn ask(fixture: &Fixture, context: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "id": id});
    for (name, value) in object(more) {
        arguments[name] = value;
    }
    found(fixture.call_in(context, "hostile__ask_terminal", arguments).await)
}

/// The same where it succeeds.
async fn ok(fixture: &Fixture, context: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut answer = ask(fixture, context, function, id, more).await;
    assert!(answer.get("ok").is_some(), "{function}: {answer}");
    answer["ok"].take()
}

/// The code with which a function is refused, and what it says.
async fn refused(fixture: &Fixture, context: &Context, function: &str, id: &str, more: Value) -> (String, String) {
    let answer = ask(fixture, context, function, id, more).await;
    let text =
        |name: &str| answer["refused"][name].as_str().unwrap_or_else(|| panic!("{function}: {answer}")).to_owned();
    (text("code"), text("message"))
}

/// Follows a turn to its end: its text, and how it ended.
async fn followed(fixture: &Fixture, context: &Context, id: &str, turn: &Value) -> (String, Value) {
    let (mut from, mut text) = (turn["start"].as_u64().expect("a cursor"), String::new());
    let began = Instant::now();
    loop {
        let more = json!({"turn": turn["number"], "from": from, "bytes": 60_000, "milliseconds": 10_000});
        let followed = ok(fixture, context, "follow", id, more).await;
        text.push_str(followed["piece"]["data"].as_str().expect("a text"));
        from = followed["piece"]["next"].as_u64().expect("a cursor");
        if followed["turn"]["end"].as_u64().is_some_and(|end| from >= end) {
            return (text, followed["turn"].clone());
        }
        assert!(began.elapsed() < AMPLE, "the turn does not end: {followed}: {text}");
    }
}

/// Types a line, and follows its turn.
async fn said(fixture: &Fixture, context: &Context, id: &str, line: &str) -> (String, Value) {
    let turn = ok(fixture, context, "send", id, json!({"text": line, "submit": true})).await;
    followed(fixture, context, id, &turn).await
}

/// Waits until the terminal is so.
async fn until(fixture: &Fixture, context: &Context, id: &str, so: impl Fn(&Value) -> bool) -> Value {
    until_async("a terminal becomes so", async || {
        let info = ok(fixture, context, "get", id, json!({})).await;
        if so(&info) { Ok(info) } else { Err(info) }
    })
    .await
}

/// Waits until this was printed.
async fn printed(fixture: &Fixture, context: &Context, id: &str, what: &str) {
    until_async(format_args!("{what} is printed"), async || {
        let read = ok(fixture, context, "read", id, json!({"view": "text", "bytes": 60_000})).await;
        if read["data"].as_str().is_some_and(|text| text.contains(what)) { Ok(()) } else { Err(read) }
    })
    .await;
}
