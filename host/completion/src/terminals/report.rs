//! What is told of terminals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OutputView;
use crate::stream::{Completion, StreamId};

/// What is known of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalDescription {
    /// Its handle.
    pub terminal: String,
    /// The stream of its events, for as long as it lives; none of a terminal that
    /// was lost with an earlier host.
    pub stream: Option<StreamId>,
    /// What was started.
    pub command: String,
    /// What decides when its turns are complete.
    pub profile: String,
    /// `starting`, `ready`, `busy` (a turn runs), `needs-input` (the program
    /// asks), `restarting`, `closed`; there may be more.
    pub status: String,
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// The program's process id, as the host sees it.
    pub pid: Option<u32>,
    /// When it was started, RFC 3339.
    pub started: String,
    /// When it was last used, RFC 3339.
    pub last_used: String,
    /// When it ended, RFC 3339; absent while it lives.
    pub ended: Option<String>,
    /// How its program ended.
    pub exit: Option<TerminalExit>,
    /// How often its program was started again.
    pub restarts: u32,
    /// Why it was last started again.
    pub restarted_because: Option<String>,
    /// The running turn, or the last one.
    pub turn: Option<TurnDescription>,
    /// The cursor behind its text so far.
    pub text_bytes: u64,
    /// The cursor behind its bytes so far.
    pub raw_bytes: u64,
    /// Whether a program has the whole screen.
    pub alternate_screen: bool,
    /// Whether it is recorded.
    pub recording: bool,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalExit {
    /// `exited`, `signaled`, `killed`; there may be more.
    pub kind: String,
    /// The code, where it exited.
    pub code: Option<i32>,
    /// The signal's number, where one ended it.
    pub signal: Option<i32>,
    /// Why it was killed, where it was: `owner`, `replaced`, `evicted`, `idle`,
    /// `time-limit`, `crashes`, `operator`, `quota`, `shutting-down`,
    /// `host-lost`; there may be more.
    pub reason: Option<String>,
    /// The cause in words, such as `it was ended by signal 11 (SIGSEGV)`.
    pub because: Option<String>,
}

/// A terminal that the session may look at, of any owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WatchableTerminal {
    /// Its handle.
    pub terminal: String,
    /// The plugin that opened it; `host` for what was opened over HTTP.
    pub plugin: String,
    /// The assistant on whose behalf it was opened.
    pub assistant: Option<String>,
    /// What was started.
    pub command: String,
    /// As of [`TerminalDescription::status`].
    pub status: String,
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// When it was started, RFC 3339.
    pub started: String,
    /// When it ended, RFC 3339; absent while it lives.
    pub ended: Option<String>,
    /// Why it ended, in words.
    pub because: Option<String>,
    /// The cursor behind its bytes so far.
    pub raw_bytes: u64,
}

/// What a viewer is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalSeen {
    /// The whole screen, for a terminal of this size that has just been reset:
    /// first of all, and where bytes in between are gone.
    Screen {
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
        /// What draws it.
        text: String,
        /// The cursor of the first byte behind it.
        next: u64,
    },
    /// What was printed.
    Bytes {
        /// The cursor of the first byte.
        from: u64,
        /// The cursor behind the last one.
        next: u64,
        /// The bytes as they came.
        bytes: Vec<u8>,
    },
    /// The terminal has another size now.
    Resized {
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
    },
    /// It is over.
    Over {
        /// Why, in words.
        because: String,
    },
}

/// How a turn stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnDescription {
    /// Its number.
    pub turn: u64,
    /// The cursor in the text at which it began.
    pub from: u64,
    /// The cursor at which it ended; absent while it runs.
    pub next: Option<u64>,
    /// How it ended; absent while it runs.
    pub complete: Option<Completion>,
}

/// A terminal that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StartedTerminal {
    /// The terminal.
    #[serde(flatten)]
    pub terminal: TerminalDescription,
    /// Handles of terminals that were closed to make room.
    pub replaced: Vec<String>,
}

/// A turn that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalTurn {
    /// The stream on which its events come.
    pub stream: StreamId,
    /// Its number.
    pub turn: u64,
    /// The number that its first event has, or will have.
    pub first: u64,
}

/// What a person would see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalScreen {
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// The rows, without the blanks at their ends.
    pub lines: Vec<String>,
    /// Where the cursor is.
    pub cursor: TerminalCursor,
    /// Whether a program has the whole screen.
    pub alternate: bool,
    /// The lines that went off the top last, oldest first.
    pub history: Vec<String>,
}

/// Where a cursor is, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalCursor {
    /// Columns before it.
    pub column: u16,
    /// Rows above it.
    pub row: u16,
    /// Whether the program shows it.
    pub visible: bool,
}

/// A part of what was printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalOutput {
    /// As what it was read.
    pub view: OutputView,
    /// Text; of the view `raw` the bytes as Base64.
    pub content: String,
    /// The cursor of its first byte: later than asked for where that is gone.
    pub from: u64,
    /// The cursor to ask for next.
    pub next: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// Whether nothing will come behind what is there.
    pub closed: bool,
}
