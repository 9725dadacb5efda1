//! What each caller is, whatever tools it calls, and how it reads answers.

use serde_json::{Value, json};

use crate::Client;

/// What a call in flight turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    Happened,
    Lost,
    /// There was none.
    None,
}

/// One caller, and what it knows.
pub(super) trait Lane {
    /// Whose state it works on.
    fn context(&self) -> Value;
    /// What to call next. Nothing else is called before it is answered.
    fn next(&mut self, random: &mut fastrand::Rng) -> (&'static str, Value);
    /// Its answer. Panics where it was refused.
    fn acknowledge(&mut self, answer: &Value);
    /// Compares what the host has with what was acknowledged. Panics where they
    /// differ in anything but the call in flight.
    fn verify(&mut self, host: &mut Client) -> Unanswered;
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
