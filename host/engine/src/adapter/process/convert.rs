//! What the process room says, in the words of the contract.

use std::time::Duration;

use serde_json::json;
use wharf_contract::process::Meta;
use wharf_process::{Exit, PollStatistics, Snapshot, StreamState, output::Piece, polls::Guidance};

use crate::{
    adapter::{self, time},
    bindings::wharf::plugin::process as wit,
};

fn milliseconds(seconds: f64) -> u64 {
    adapter::milliseconds(Duration::try_from_secs_f64(seconds).unwrap_or_default())
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
    let meta = Meta { explanation, polls: (polls.polls > 0).then(|| polls.told()) };
    (!meta.is_empty()).then(|| json!(meta).to_string())
}

impl From<Snapshot> for wit::Info {
    fn from(snapshot: Snapshot) -> Self {
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

impl From<Piece> for wit::Piece {
    fn from(piece: Piece) -> Self {
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
