//! What a transport serves beside tools: terminals, for clients that are not
//! models.
//!
//! Plain data in both directions, so that the room of the protocol knows
//! nothing of the room of terminals.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    detection::{LONGEST_MILLISECONDS, Tuning},
    stream::{Completion, StreamId},
};
use wharf_core::{Context, Error};

/// The most columns of a terminal. What a program can make an emulator compute
/// and keep grows with the screen.
pub const MAX_COLUMNS: u16 = 500;
/// The most rows of a terminal.
pub const MAX_ROWS: u16 = 200;

/// A terminal to start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTerminal {
    /// The program: a name, or a path as it will see it. Without one, the
    /// machine's shell.
    pub program: Option<String>,
    /// What it is called with.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Variables to set, where they are granted.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it starts, below the workspace of the session.
    pub directory: Option<String>,
    /// How wide it is; 80 where absent.
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub columns: Option<u16>,
    /// How high it is; 24 where absent.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub rows: Option<u16>,
    /// What kind of program it is, which decides when its turns are complete:
    /// a preset (`shell`, `repl`, `agent`, `build`, `sensitive`, `patient`,
    /// `search`, `simple-answer`) or one that the operator configured in
    /// `[terminal.profile.NAME]`. Without one, it follows from the program.
    pub profile: Option<String>,
}

/// Input that begins a turn: either `text` or `keys`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRequest {
    /// What is typed; at most 10,000 characters, unless the operator says
    /// otherwise, and without control characters.
    pub text: Option<String>,
    /// Whether Enter is pressed behind the text.
    #[serde(default = "yes")]
    pub submit: bool,
    /// Names of keys to press instead, such as `C-c` or `Up`.
    #[serde(default)]
    pub keys: Vec<String>,
    /// What decides when this turn is complete, where not the terminal's
    /// profile: a preset, or a profile that the operator configured.
    pub profile: Option<String>,
    /// Regular expressions (the syntax of the Rust crate `regex`) of which one
    /// matches the row of the cursor once the program is done, as prompts that
    /// ask for an answer. At most 16, of at most 1,024 bytes each. `^` and `$`
    /// are the ends of the row.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// How long the turn may be silent once something came, in milliseconds;
    /// also while the program is known to work.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub inactivity_timeout_ms: Option<u64>,
    /// How long the turn may last, in milliseconds.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub time_limit_ms: Option<u64>,
    /// Any other number by which completion is detected.
    pub parameters: Option<Tuning>,
}

fn yes() -> bool {
    true
}

/// Keys to press, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressKeys {
    /// Their names, such as `C-c`, `Enter` or `F1`.
    pub keys: Vec<String>,
}

/// A turn to take back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTurn {
    /// Its number; the running one where absent.
    pub turn: Option<u64>,
}

/// A size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeTerminal {
    /// How wide.
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub columns: u16,
    /// How high.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub rows: u16,
}

/// Which output to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOutput {
    /// As what.
    pub view: OutputView,
    /// The cursor of the first byte.
    pub from: u64,
    /// How much at most.
    pub maximum_bytes: usize,
    /// How long to wait for something behind `from`.
    pub patience: Duration,
}

/// As what output is read. Each counts its own cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputView {
    /// Text, without control sequences.
    #[default]
    Text,
    /// The very bytes.
    Raw,
}

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

/// A terminal that the session may look at, whoever opened it.
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

/// What somebody who looks on is shown.
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

/// Somebody who looks on at one terminal. Dropping it ends that.
#[async_trait::async_trait]
pub trait TerminalWatch: Send {
    /// What is seen next; nothing once the end was told. Cancel-safe.
    async fn next(&mut self) -> Option<TerminalSeen>;
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

/// Terminals on behalf of contexts. One of another owner is `not-found`.
#[async_trait::async_trait]
pub trait TerminalService: Send + Sync + 'static {
    /// Starts a program in a terminal of its own, and opens its stream.
    ///
    /// # Errors
    /// `denied` where it is not granted, `limit` where there are too many,
    /// `invalid` for a request that makes no sense.
    async fn start(&self, context: &Context, request: StartTerminal) -> Result<StartedTerminal, Error>;

    /// The terminals of this owner, ended ones that are kept included.
    ///
    /// # Errors
    /// `denied` where terminals are not granted.
    async fn list(&self, context: &Context) -> Result<Vec<TerminalDescription>, Error>;

    /// One terminal.
    ///
    /// # Errors
    /// `not-found`.
    async fn info(&self, context: &Context, terminal: &str) -> Result<TerminalDescription, Error>;

    /// Begins a turn. Its events come on the terminal's stream, and it goes
    /// on whoever follows it.
    ///
    /// # Errors
    /// `not-found`; `conflict` while a turn runs; `gone` once the program has
    /// ended; `invalid`, `denied` and `limit` for input that is not typed.
    async fn turn(&self, context: &Context, terminal: &str, request: TurnRequest) -> Result<TerminalTurn, Error>;

    /// Presses keys, in a running turn or without one.
    ///
    /// # Errors
    /// `not-found`, `invalid` for a name that is no key, `gone`.
    async fn keys(&self, context: &Context, terminal: &str, request: PressKeys) -> Result<(), Error>;

    /// Takes a turn back: it is over, and the program is sent nothing.
    ///
    /// # Errors
    /// `not-found`, `conflict` where no such turn runs.
    async fn cancel(&self, context: &Context, terminal: &str, request: CancelTurn) -> Result<(), Error>;

    /// Changes the size.
    ///
    /// # Errors
    /// `not-found`, `invalid` for a size that no terminal has, `gone`.
    async fn resize(&self, context: &Context, terminal: &str, request: ResizeTerminal) -> Result<(), Error>;

    /// What a person would see now, and at most so many lines above it.
    ///
    /// # Errors
    /// `not-found`.
    async fn screen(&self, context: &Context, terminal: &str, history_lines: usize) -> Result<TerminalScreen, Error>;

    /// What was printed, from a cursor on. Waits until something is there, the
    /// program has ended or patience is over.
    ///
    /// # Errors
    /// `not-found`.
    async fn output(&self, context: &Context, terminal: &str, request: ReadOutput) -> Result<TerminalOutput, Error>;

    /// The terminals that this session may look at, whichever plugin opened
    /// them: of its tenant and session, and of its assistant alone where the
    /// context names one. No grant is asked for: each was granted to who opened
    /// it.
    async fn watchable(&self, context: &Context) -> Vec<WatchableTerminal>;

    /// Begins to look on at one of these: with the whole screen, or from a cursor
    /// of the view `raw` on where the bytes behind it are still kept.
    ///
    /// # Errors
    /// `not-found`.
    async fn watch(
        &self,
        context: &Context,
        terminal: &str,
        from: Option<u64>,
    ) -> Result<Box<dyn TerminalWatch>, Error>;

    /// Ends the program, after `grace` by force, and its stream.
    ///
    /// # Errors
    /// `not-found`.
    async fn close(&self, context: &Context, terminal: &str, grace: Duration) -> Result<TerminalDescription, Error>;
}
