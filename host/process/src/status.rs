//! What a process is, was and ended as.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use wharf_contract::process::OutcomeKind;
pub use wharf_contract::process::{KilledBy, Status, StreamName};

use crate::{PollStatistics, ProcessId};

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// By itself, with this code.
    Exited {
        /// 0 for success.
        code: i32,
    },
    /// By a signal that was not the host's way of ending it.
    Signaled {
        /// The number of the signal.
        signal: i32,
    },
    /// The host ended it. What the process made of the signal (some answer it
    /// with code 0) does not count.
    Killed {
        /// For whom.
        by: KilledBy,
    },
    /// It never ran.
    NotStarted {
        /// Why.
        reason: String,
    },
}

impl Exit {
    /// How that is called in the contract.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Exited { .. } => OutcomeKind::Exited,
            Self::Signaled { .. } => OutcomeKind::Signaled,
            Self::Killed { .. } => OutcomeKind::Killed,
            Self::NotStarted { .. } => OutcomeKind::NotStarted,
        }
    }

    /// The status of a process that ended so.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Exited { code: 0 } => Status::Finished,
            Self::Exited { .. } | Self::NotStarted { .. } => Status::Failed,
            Self::Signaled { .. } | Self::Killed { .. } => Status::Killed,
        }
    }
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// Bytes written since the start: the cursor behind the last one.
    pub bytes: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// Somebody can still write to it, be it only a descendant.
    pub open: bool,
    /// Output was lost because the host could not store it.
    pub damaged: bool,
}

/// A process as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its handle.
    pub id: ProcessId,
    /// What was started, as a person would write it; cut where it is long.
    pub command: String,
    /// The system's process id of the leader, once it runs.
    pub pid: Option<u32>,
    /// Where it stands.
    pub status: Status,
    /// How it ended, once it has.
    pub exit: Option<Exit>,
    /// Why the host ended it, as a sentence for people: which limit it was, and
    /// of how much.
    pub reason: Option<String>,
    /// When it was asked for; RFC 3339 when serialized.
    pub started: DateTime<Utc>,
    /// When it ended.
    pub finished: Option<DateTime<Utc>>,
    /// Its standard output.
    pub stdout: StreamState,
    /// Its standard error.
    pub stderr: StreamState,
    /// Descendants that live now, be the leader's end long past. Absent while
    /// the leader runs: each count is a walk through all processes of the
    /// machine, and tells a poll nothing before the end.
    pub descendants: Option<u32>,
    /// How it was polled before this.
    pub polls: PollStatistics,
}
