//! What a program of the test host prints, and when its turns end.

use crate::terminal::{Completion, Confidence, Layer, Reason};

/// A program that plays a part: what it prints at first, and what it makes of
/// what is typed.
///
/// A text is looked up as it was submitted or typed, keys by their names with
/// blanks between them. What no line of the script is about is answered with
/// nothing.
#[derive(Debug, Clone, Default)]
pub struct Script {
    greeting: String,
    answers: Vec<(String, Response)>,
}

impl Script {
    /// One that prints nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Prints this once it is started.
    #[must_use]
    pub fn prints(mut self, greeting: impl Into<String>) -> Self {
        self.greeting = greeting.into();
        self
    }

    /// What it makes of this input.
    #[must_use]
    pub fn answers(mut self, input: impl Into<String>, response: impl Into<Response>) -> Self {
        self.answers.push((input.into(), response.into()));
        self
    }

    pub(super) fn greeting(&self) -> &str {
        &self.greeting
    }

    pub(super) fn response(&self, input: &str) -> Response {
        let found = self.answers.iter().find(|(known, _)| known == input);
        found.map_or_else(Response::default, |(_, response)| response.clone())
    }
}

/// What a program makes of one input; it then shows a prompt, unless it is told
/// otherwise.
#[derive(Debug, Clone)]
pub struct Response {
    /// What is printed, each part for a wait of its own; the last one first.
    pub(super) parts: Vec<String>,
    pub(super) waits: u32,
    pub(super) end: Option<Completion>,
    pub(super) exits: Option<i32>,
}

impl Default for Response {
    fn default() -> Self {
        Self::new("")
    }
}

impl<T: Into<String>> From<T> for Response {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl Response {
    /// Prints this.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let end = Completion {
            layer: Layer::Status,
            reason: Reason::StrictPrompt,
            confidence: Confidence::High,
            messages: 1,
            attempts: 0,
            empty_polls: 0,
            idle: std::time::Duration::from_millis(200),
            elapsed: std::time::Duration::from_millis(250),
            exit_code: None,
        };
        Self { parts: vec![text.into()], waits: 0, end: Some(end), exits: None }
    }

    /// Prints this too, once somebody has waited for what came before.
    #[must_use]
    pub fn then(mut self, text: impl Into<String>) -> Self {
        self.parts.insert(0, text.into());
        self
    }

    /// So many waits for it are in vain before it prints anything.
    #[must_use]
    pub fn after_waits(mut self, waits: u32) -> Self {
        self.waits = waits;
        self
    }

    /// Why its turn is complete.
    #[must_use]
    pub fn ends_by(mut self, layer: Layer, reason: Reason, confidence: Confidence) -> Self {
        self.end = self.end.map(|end| Completion { layer, reason, confidence, ..end });
        self
    }

    /// As a command of an integrated shell that ends with this code.
    #[must_use]
    pub fn with_exit_code(self, code: i32) -> Self {
        let mut ended = self.ends_by(Layer::Signal, Reason::CommandEnded, Confidence::Certain);
        ended.end = ended.end.map(|end| Completion { exit_code: Some(code), ..end });
        ended
    }

    /// The program ends with this code.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        let mut ended = self.with_exit_code(code).ends_by(Layer::Ended, Reason::ProcessExited, Confidence::Certain);
        ended.exits = Some(code);
        ended
    }

    /// Its turn ends by `C-c`, by being cancelled, or never.
    #[must_use]
    pub fn never_ends(mut self) -> Self {
        self.end = None;
        self
    }
}
