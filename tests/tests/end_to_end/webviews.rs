//! Web pages through the whole host, in the real browser, by a guest that speaks the
//! raw contract.

mod allowed;
mod backend;
mod bounds;
mod files;
mod functions;
mod granted;
mod lost;
mod operator;
mod over_http;
mod owners;
mod refused;
mod waits;

pub(crate) use lost::{browser, scratch};

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Fixture, Setup, Site, context, found, object, until_async};

/// The functions that take a page, with arguments that make sense.
const OF_PAGE: [&str; 6] = ["get", "close", "execute", "perform", "answer-dialog", "entries"];
/// The functions that take a request and refuse one that is not there.
const OF_REQUEST: [&str; 3] = ["acknowledge", "cancel", "read-result"];

/// The session of these tests, unless they need several.
fn here() -> Context {
    context("local", "test")
}

/// `hostile` may visit the site, with further lines of the grant.
fn visits(site: &Site, lines: &str) -> Setup {
    Setup::new().webviews(&format!("origins = [\"{}\"]\nprivate_addresses = true\n{lines}", site.origin()))
}

/// Calls one function of the interface.
async fn ask(fixture: &Fixture, context: &Context, function: &str, id: &str, more: Value) -> Value {
    let mut arguments = json!({"function": function, "id": id});
    for (name, value) in object(more) {
        arguments[name] = value;
    }
    found(fixture.call_in(context, "hostile__ask_page", arguments).await)
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

/// Opens a page and returns its id.
async fn page(fixture: &Fixture, context: &Context) -> String {
    let info = ok(fixture, context, "open", "", json!({})).await;
    info["id"].as_str().expect("an id").to_owned()
}

/// Waits for a request, however busy the machine is.
async fn waited(fixture: &Fixture, context: &Context, request: &Value) -> Value {
    let request = request.as_str().expect("a request");
    until_async("it ends", async || {
        let outcome = ok(fixture, context, "wait", request, json!({"milliseconds": 10_000})).await;
        if outcome["state"] != "pending" { Ok(outcome) } else { Err(outcome) }
    })
    .await
}

/// Runs a script to its end.
async fn run(fixture: &Fixture, context: &Context, id: &str, script: &str) -> Value {
    let request = ok(fixture, context, "execute", id, json!({"script": script, "milliseconds": 60_000})).await;
    waited(fixture, context, &request).await
}

/// The result of a script.
async fn value(fixture: &Fixture, context: &Context, id: &str, script: &str) -> Value {
    let outcome = run(fixture, context, id, script).await;
    assert_eq!(outcome["state"], "done", "{script}: {outcome}");
    serde_json::from_str(outcome["data"].as_str().expect("a text")).expect("JSON")
}

/// Carries out an operation to its end.
async fn perform(fixture: &Fixture, context: &Context, id: &str, operation: &str, parameters: Value) -> Value {
    let more = json!({"operation": operation, "parameters": parameters.to_string(), "milliseconds": 60_000});
    let request = ok(fixture, context, "perform", id, more).await;
    waited(fixture, context, &request).await
}

/// The same where it succeeds: its result.
async fn done(fixture: &Fixture, context: &Context, id: &str, operation: &str, parameters: Value) -> Value {
    let outcome = perform(fixture, context, id, operation, parameters).await;
    assert_eq!(outcome["state"], "done", "{operation}: {outcome}");
    serde_json::from_str(outcome["data"].as_str().expect("a text")).expect("JSON")
}

/// A page that shows this address.
async fn page_at(fixture: &Fixture, context: &Context, url: &str) -> String {
    let id = page(fixture, context).await;
    done(fixture, context, &id, "navigate", json!({"url": url})).await;
    id
}

/// Keeps a page busy for ever, from now on: the request that does it.
async fn stuck(fixture: &Fixture, context: &Context, id: &str) -> Value {
    let before = entries(fixture, context, id, "console", 0).await.len();
    let more = json!({"script": "console.log('for ever'); for (;;) {}", "milliseconds": 200_000});
    let request = ok(fixture, context, "execute", id, more).await;
    entries(fixture, context, id, "console", before + 1).await;
    request
}

/// The entries of a log, once there are as many.
async fn entries(fixture: &Fixture, context: &Context, id: &str, log: &str, least: usize) -> Vec<Value> {
    until_async(format_args!("{log} has {least} entries"), async || {
        let page = ok(fixture, context, "entries", id, json!({"log": log, "max": 1_000})).await;
        let entries = page["entries"].as_array().expect("entries").clone();
        if entries.len() >= least { Ok(entries) } else { Err(page) }
    })
    .await
}

/// A page once it is closed.
async fn closed(fixture: &Fixture, context: &Context, id: &str) -> Value {
    until_async("the page is closed", async || {
        let info = ok(fixture, context, "get", id, json!({})).await;
        if info["status"] == "closed" { Ok(info) } else { Err(info) }
    })
    .await
}
