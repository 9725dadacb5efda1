//! What callers are told of a terminal: how it is, what a launch and a turn
//! brought, what a person would see.
//!
//! Owns no behaviour.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use wharf_completion::{detection::Preset, stream::StreamId};
pub use wharf_contract::terminal::{CloseReason, Status};

use crate::{HistorySlice, ProgramExit, Restart, ScreenView, TerminalId, TerminalSize, TurnState};

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
    pub size: TerminalSize,
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
    pub exit: Option<ProgramExit>,
    /// Why the host closed it, if it did.
    pub why: Option<CloseReason>,
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

/// A terminal that was launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchOutcome {
    /// The new terminal.
    pub id: TerminalId,
    /// Those of the same owner that were closed for it.
    pub replaced: Vec<TerminalId>,
}

/// A part of a turn's text, and how the turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutput {
    /// The text.
    pub piece: HistorySlice<String>,
    /// The turn.
    pub turn: TurnState,
}

/// What a person would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenSnapshot {
    /// The screen.
    pub view: ScreenView,
    /// The scrollback: rows that went off the top of the main screen, the last of them.
    pub history: Vec<String>,
}
