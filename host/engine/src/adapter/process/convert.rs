//! Between the words of the contract and those of the process crate.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use wharf_contract::process::Meta;
use wharf_core::{Code, Error, json::members};
use wharf_process::{
    Exit, Pattern, PollStatistics, ProcessError, ProcessSnapshot, StreamName, StreamState, WaitCondition,
    output::OutputPiece, polls::Guidance,
};

use crate::{
    adapter::text::{self, time},
    bindings::wharf::plugin::process as wit,
};

fn milliseconds(seconds: f64) -> u64 {
    text::milliseconds(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

pub(super) fn count(lines: u32) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}

/// The members that this host knows. Nothing of others is kept, however many there are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

pub(super) fn no_options(options: Option<&str>) -> Result<(), Error> {
    let Some(options) = options else { return Ok(()) };
    let told = match members::<NoOptions>(options) {
        Ok(NoOptions {}) => return Ok(()),
        Err(error) if error.is_of_another_shape() && options.trim_ascii_start().starts_with('{') => {
            "this host knows no member of `options`; leave it out".to_owned()
        }
        Err(error) => format!("`options` is no JSON object: {error}"),
    };
    Err(Error::new(Code::Invalid, told))
}

pub(super) fn stream(name: &str) -> Result<StreamName, Error> {
    StreamName::find(name).ok_or_else(|| Error::new(Code::Invalid, "a stream is `stdout` or `stderr`"))
}

/// What is waited for. A pattern is compiled, which takes up to milliseconds.
pub(super) fn condition(condition: wit::Condition) -> Result<WaitCondition, Error> {
    let pattern = match condition.pattern {
        Some((place, text)) => {
            let stream = stream(&place.stream)?;
            let pattern = Pattern::new(&text).map_err(|source| ProcessError::Pattern { source })?;
            Some((stream, place.cursor, pattern))
        }
        None => None,
    };
    let output = condition.output.map(|place| Ok::<_, Error>((stream(&place.stream)?, place.cursor))).transpose()?;
    let idle = condition.idle_milliseconds.map(Duration::from_millis);
    Ok(WaitCondition { output, pattern, exit: condition.exit, idle })
}

impl From<StreamState> for wit::Progress {
    fn from(state: StreamState) -> Self {
        let StreamState { bytes, evicted_before, open, damaged } = state;
        Self { bytes, evicted_before, open, damaged }
    }
}

impl From<Exit> for wit::Outcome {
    fn from(exit: Exit) -> Self {
        let told = Self { kind: exit.kind().as_str().to_owned(), code: None, signal: None, reason: None };
        match exit {
            Exit::Exited { code } => Self { code: Some(code), ..told },
            Exit::Signaled { signal } => Self { signal: u32::try_from(signal).ok(), ..told },
            Exit::Killed { by } => Self { reason: Some(by.as_str().to_owned()), ..told },
            Exit::NotStarted { reason } => Self { reason: Some(reason), ..told },
        }
    }
}

/// Further fields, where there are any.
fn meta(explanation: Option<String>, polls: &PollStatistics) -> Option<String> {
    let meta = Meta { explanation, polls: (polls.polls > 0).then(|| polls.to_contract()) };
    (!meta.is_empty()).then(|| json!(meta).to_string())
}

impl From<ProcessSnapshot> for wit::Info {
    fn from(snapshot: ProcessSnapshot) -> Self {
        Self {
            id: snapshot.id.to_string(),
            command: snapshot.command,
            pid: snapshot.pid,
            status: snapshot.status.as_str().to_owned(),
            outcome: snapshot.exit.map(Into::into),
            started: time(snapshot.started),
            finished: snapshot.finished.map(time),
            stdout: snapshot.stdout.into(),
            stderr: snapshot.stderr.into(),
            descendants: snapshot.descendants,
            meta: meta(snapshot.reason, &snapshot.polls),
        }
    }
}

impl From<OutputPiece> for wit::Piece {
    fn from(piece: OutputPiece) -> Self {
        Self {
            start: piece.from,
            next: piece.next(),
            evicted_before: piece.evicted_before,
            end: piece.end,
            data: piece.bytes,
        }
    }
}

impl From<Guidance> for wit::Advice {
    fn from(guidance: Guidance) -> Self {
        Self {
            polls: guidance.polls,
            over_milliseconds: milliseconds(guidance.over_seconds),
            mean_interval_milliseconds: milliseconds(guidance.mean_interval_seconds),
            suggested_interval_milliseconds: guidance.suggested_interval_seconds.saturating_mul(1_000),
            text: guidance.text,
        }
    }
}
