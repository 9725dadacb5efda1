//! What a terminal is, was and ended as.

use std::{fmt, path::PathBuf};

use chrono::{DateTime, Utc};

use wharf_completion::{detection::Preset, stream::StreamId};

use super::{Restart, TerminalId};
use crate::{Exit, ScreenView, Size, Slice, TurnState};

/// Where a terminal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Its program runs, has printed nothing, and nothing was typed.
    Starting,
    /// It takes input.
    Ready,
    /// A turn runs.
    Busy,
    /// The last turn ended with a question: a shell wants the rest of a
    /// command, or a program an answer, a password, a key.
    NeedsInput,
    /// Its program crashed and is started again.
    Restarting,
    /// It is over; what it printed can be read for a while.
    Closed,
}

impl Status {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::NeedsInput => "needs-input",
            Self::Restarting => "restarting",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why the host closed a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Its owner asked.
    Owner,
    /// Its owner started another one.
    Replaced,
    /// Nobody used it.
    Idle,
    /// Another owner of its tenant needed the room, and it had been unused for
    /// longest.
    Evicted,
    /// It was open for as long as it may.
    TimeLimit,
    /// Its program crashed too often.
    Crashes,
    /// The operator asked.
    Operator,
    /// The files of its session took more than they may.
    Quota,
    /// The host ends.
    ShuttingDown,
    /// Its host ended without closing it.
    HostLost,
}

impl Why {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Replaced => "replaced",
            Self::Idle => "idle",
            Self::Evicted => "evicted",
            Self::TimeLimit => "time-limit",
            Self::Crashes => "crashes",
            Self::Operator => "operator",
            Self::Quota => "quota",
            Self::ShuttingDown => "shutting-down",
            Self::HostLost => "host-lost",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A terminal as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalInfo {
    /// Its handle.
    pub id: TerminalId,
    /// What was started, as a person would write it; cut where it is long.
    pub command: String,
    /// What the host takes its program for.
    pub profile: String,
    /// How its turns are judged where a turn does not say.
    pub preset: Preset,
    /// Where it stands.
    pub status: Status,
    /// How large it is.
    pub size: Size,
    /// The system's process id of its program, while that runs.
    pub pid: Option<u32>,
    /// Where its program is, as it sees it; as last seen.
    pub directory: PathBuf,
    /// When it was opened.
    pub started: DateTime<Utc>,
    /// When its owner last used it.
    pub last_used: DateTime<Utc>,
    /// When it was closed.
    pub ended: Option<DateTime<Utc>>,
    /// How its program ended, once it has for good.
    pub exit: Option<Exit>,
    /// Why the host closed it, if it did.
    pub why: Option<Why>,
    /// Why it is over, in words such as `it was ended by signal 11 (SIGSEGV)`;
    /// nothing while it goes on.
    pub because: Option<String>,
    /// When its program is started again.
    pub restart: Restart,
    /// How often it was.
    pub restarts: u32,
    /// Why it was the last time, as a sentence for people.
    pub restarted_because: Option<String>,
    /// The turn that runs, or the last one.
    pub turn: Option<TurnState>,
    /// Behind the last byte of text.
    pub text_bytes: u64,
    /// Text before this cursor is not kept any more.
    pub text_evicted_before: u64,
    /// Behind the last byte that came.
    pub raw_bytes: u64,
    /// Bytes before this cursor are not kept any more.
    pub raw_evicted_before: u64,
    /// A full-screen program shows its own screen.
    pub alternate_screen: bool,
    /// It is recorded, to this file.
    pub recording: Option<PathBuf>,
    /// Its stream of events, where it has one.
    pub stream: Option<StreamId>,
    /// How many people and recordings look on.
    pub viewers: usize,
}

/// What became of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The new terminal.
    pub id: TerminalId,
    /// Those of the same owner that were closed for it.
    pub replaced: Vec<TerminalId>,
}

/// A part of a turn's text, and how the turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The text.
    pub piece: Slice<String>,
    /// The turn.
    pub turn: TurnState,
}

/// What a person would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The screen.
    pub view: ScreenView,
    /// The rows that went off the top of the main screen, the last of them.
    pub history: Vec<String>,
}
