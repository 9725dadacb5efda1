//! What each caller is, whatever tools it calls, and how it reads answers.

use serde_json::{Value, json};

use wharf_test_support::blocking;

use crate::{Client, cluster::ClusterHost};

/// What a call in flight turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    Happened,
    Lost,
    /// There was none.
    None,
}

/// A host that tools are called at.
pub(super) trait Caller {
    /// The result of a call.
    fn call(&mut self, tool: &str, arguments: Value, meta: Value) -> Value;
}

impl Caller for Client {
    fn call(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        self.call(tool, arguments, meta)
    }
}

impl Caller for &ClusterHost {
    fn call(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        // Where a plugin may use files of its session, the session has to get another home first.
        blocking::until("a host acts for the session", || match self.attempt(tool, &arguments, &meta) {
            Some(answer) if !is_of_a_dead_host(&answer) => Ok(answer),
            answer => Err(format!("{answer:?}")),
        })
    }
}

/// Whether an answer says that another host has died, or is not reached.
pub(super) fn is_of_a_dead_host(answer: &Value) -> bool {
    matches!(answer["_meta"]["dev.wharf/error"]["code"].as_str(), Some("gone" | "unavailable"))
}

/// One caller, and what it knows.
pub(super) trait Lane: Send {
    /// Whose state it works on.
    fn context(&self) -> Value;
    /// What to call next. Nothing else is called before it is answered.
    fn next(&mut self, random: &mut fastrand::Rng) -> (&'static str, Value);
    /// Its answer. Panics where it was refused.
    fn acknowledge(&mut self, answer: &Value);
    /// Compares what the host has with what was acknowledged. Panics where they
    /// differ in anything but the call in flight.
    fn verify(&mut self, host: &mut dyn Caller) -> Unanswered;
}

/// A caller of what is on one host alone, such as the files of a session.
pub(super) trait AtHome: Send {
    /// Goes on by way of a host. Whether that was answered.
    fn step(&mut self, host: &ClusterHost) -> bool;
    /// Compares what is there with what was acknowledged, once a host acts for the session. Panics
    /// where they differ.
    fn verify(&mut self, host: &ClusterHost);
}

/// The structure of an answer that is no error.
pub(super) fn structured(answer: &Value) -> &Value {
    assert_ne!(answer["isError"], json!(true), "{answer}");
    &answer["structuredContent"]
}

/// The text of an answer that is an error.
pub(super) fn refusal(answer: &Value) -> &str {
    assert_eq!(answer["isError"], json!(true), "{answer}");
    answer["content"][0]["text"].as_str().unwrap_or_default()
}
