//! What a stream consists of.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::detection::{AgentStatus, Decision, Reason};

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The source said how it is: `{turn, status}`.
    Status,
    /// A part of the answer: `{turn, text}`, of a terminal with the cursors
    /// `from` and `next` in its text.
    Message,
    /// How far the work has come: `{turn, stage, percent?}`.
    Progress,
    /// The turn is over: a [`Completion`].
    Complete,
}

impl EventKind {
    /// The word that clients see.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Message => "message",
            Self::Progress => "progress",
            Self::Complete => "complete",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One event. It is written as JSON once, however many read it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StreamEvent {
    /// Counts from 1 over the whole stream; a reader goes on behind it.
    pub number: u64,
    /// The turn that it belongs to; 0 before the first one.
    pub turn: u64,
    /// What it is.
    #[serde(rename = "event")]
    pub kind: EventKind,
    /// A JSON object; what is in it depends on `event`.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub data: Box<RawValue>,
}

#[derive(Serialize)]
pub(super) struct StatusData {
    pub(super) turn: u64,
    pub(super) status: &'static str,
}

#[derive(Serialize)]
pub(super) struct MessageData<'m> {
    pub(super) turn: u64,
    pub(super) text: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ProgressData<'p> {
    pub(super) turn: u64,
    pub(super) stage: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) percent: Option<f64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Completion {
    /// Which turn.
    pub turn: u64,
    /// Why it is over: a word of completion detection, or `cancelled`.
    pub reason: &'static str,
    /// The layer that decided, `L0` (the process ended) to `L4` (a limit);
    /// absent where the turn was cancelled.
    pub layer: Option<&'static str>,
    /// How sure it is that the answer is whole: `certain`, `high`, `medium`,
    /// `low`, `none`.
    pub confidence: &'static str,
    /// Messages, or pieces of output, of this turn.
    pub messages: u64,
    /// Polls of the source that counted.
    pub attempts: u32,
    /// The last of them that found nothing, in a row.
    pub empty_polls: u32,
    /// Milliseconds since the last event before the end.
    pub idle_ms: u64,
    /// Milliseconds since the input.
    pub elapsed_ms: u64,
    /// The code of the shell's command, or of the program that ended, where it
    /// told one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Processes that the ended one left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descendants: Option<u32>,
    /// Why what answers is over, in words, where the turn ended with it: `it was
    /// ended by signal 11 (SIGSEGV)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// How long silence had to last, where that adapts to the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptedSilence>,
}

/// How long silence had to last before it ended a turn, where that adapts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AdaptedSilence {
    /// Milliseconds of silence.
    pub inactivity_ms: u64,
    /// How many earlier turns it was learned from, 8 at most; 0 where it is the
    /// configured limit still.
    pub turns: u32,
}

impl Completion {
    /// What a decision says of a turn. One without a verdict says that the
    /// turn was taken back: the reason is `cancelled`.
    #[must_use]
    pub fn new(turn: u64, decision: &Decision) -> Self {
        let descendants = match decision.reason() {
            Some(Reason::DescendantsAlive { descendants }) => Some(descendants),
            _ => None,
        };
        Self {
            turn,
            reason: decision.reason().map_or("cancelled", Reason::as_str),
            layer: decision.layer().map(crate::detection::Layer::as_str),
            confidence: decision.confidence().map_or("none", crate::detection::Confidence::as_str),
            messages: decision.messages,
            attempts: decision.attempts,
            empty_polls: decision.empty_polls,
            idle_ms: milliseconds(decision.idle),
            elapsed_ms: milliseconds(decision.elapsed),
            exit_code: match decision.reason() {
                Some(Reason::CommandEnded { exit_code }) => exit_code,
                Some(_) => decision.exit_code,
                None => None,
            },
            descendants,
            because: None,
            adaptive: decision
                .adaptive
                .map(|silence| AdaptedSilence { inactivity_ms: milliseconds(silence.limit), turns: silence.turns }),
        }
    }
}

impl Completion {
    /// The same with why what answers is over, where the turn ended with it.
    #[must_use]
    pub fn explained(mut self, decision: &Decision, because: Option<&str>) -> Self {
        let ended = matches!(decision.reason(), Some(Reason::StreamClosed))
            || decision.layer() == Some(crate::detection::Layer::Ended);
        self.because = because.filter(|_| ended).map(ToOwned::to_owned);
        self
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl StatusData {
    pub(super) fn new(turn: u64, status: AgentStatus) -> Self {
        Self { turn, status: status.as_str() }
    }
}
