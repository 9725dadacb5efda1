//! The workspace plugin through the whole host, with real processes and real
//! files: what an agent is told, file by file of what it may ask for.
//!
//! The backends below have tests of their own; here counts the answer alone.

mod commands;
mod contained;
mod contents;
mod exchange;
mod files;
mod following;
mod granted;
mod links;
mod many;
mod names;
mod output;
mod owners;
mod polls;
mod room;
mod stopping;

use serde_json::{Value, json};
use wharf::{Answer, Context, Error};
use wharf_tests::{Fixture, Setup, context};

/// What a developer has on a machine of their own.
fn setup() -> Setup {
    Setup::new().with("profile = \"developer\"").bundled("workspace", "")
}

/// The session of these tests, unless they need several.
fn here() -> Context {
    context("local", "test")
}

/// What a tool told: the model reads the text, programs the rest.
#[derive(Debug)]
struct Told {
    text: String,
    structured: Value,
}

impl Told {
    /// The process that it is about.
    fn id(&self) -> String {
        self.structured["process_id"].as_str().unwrap_or_else(|| panic!("no process: {self:?}")).to_owned()
    }

    /// What of a stream is shown.
    fn shown(&self, stream: &str) -> &str {
        self.structured[stream]["text"].as_str().unwrap_or_else(|| panic!("no {stream}: {self:?}"))
    }
}

fn told(outcome: Result<Answer, Error>) -> Told {
    let answer = outcome.expect("it answers");
    let text = answer.content[0].as_text().expect("a text").to_owned();
    assert!(!answer.is_error, "refused: {text}");
    Told { text, structured: answer.structured.expect("a structured answer") }
}

/// What the model reads where a tool refuses, or the host does: the code first.
fn refusal(outcome: Result<Answer, Error>) -> String {
    match outcome {
        Ok(answer) => {
            assert!(answer.is_error, "it should have been refused: {:?}", answer.content);
            answer.content[0].as_text().expect("a text").to_owned()
        }
        Err(error) => format!("{}: {}", error.code.as_str(), error.message),
    }
}

/// Calls a tool of the plugin that has to work.
async fn ask(fixture: &Fixture, tool: &str, arguments: Value) -> Told {
    told(fixture.call(&format!("workspace__{tool}"), arguments).await)
}

/// Calls a tool of the plugin that has to be refused.
async fn refused(fixture: &Fixture, tool: &str, arguments: Value) -> String {
    refusal(fixture.call(&format!("workspace__{tool}"), arguments).await)
}

/// Runs a command to its end.
async fn run(fixture: &Fixture, command: &str) -> Told {
    let told = ask(fixture, "execute_shell", json!({"command": command, "wait_seconds": 60})).await;
    assert_eq!(told.structured["still_running"], false, "{told:?}");
    told
}

/// Starts a command that can be written to, and answers its process.
async fn start(fixture: &Fixture, command: &str) -> String {
    let arguments = json!({"command": command, "run_mode": "async", "input": true});
    ask(fixture, "execute_shell", arguments).await.id()
}

/// Waits until a process prints a line that matches.
async fn prints(fixture: &Fixture, id: &str, pattern: &str) -> Told {
    let until = json!({"pattern": pattern, "exit": false});
    let told = ask(fixture, "wait_for_process", json!({"process_id": id, "until": until, "wait_seconds": 60})).await;
    assert_eq!(told.structured["wait_ended"], "pattern", "{told:?}");
    told
}

/// Waits for the end of a process.
async fn end(fixture: &Fixture, id: &str) -> Told {
    let told = ask(fixture, "wait_for_process", json!({"process_id": id, "wait_seconds": 60})).await;
    assert_eq!(told.structured["wait_ended"], "exit", "{told:?}");
    told
}

async fn stop(fixture: &Fixture, id: &str) -> Told {
    ask(fixture, "stop_process", json!({"process_id": id, "grace_seconds": 0})).await
}
