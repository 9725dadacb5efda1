//! [`Terminals`]: interactive programs of the host, as a tool sees them.
//!
//! What a launch and a turn ask for is in `request`, what the host says of a
//! terminal in `report`. Real programs run in the host only: natively,
//! [`crate::testing`] plays them from a script.

pub(crate) mod report;
pub(crate) mod request;

use std::time::Duration;

pub use wharf_contract::terminal::TerminalRules;

use crate::host::{ActiveHost, HostTerminals};
use crate::process::milliseconds;
use crate::{Call, ToolError};

pub use report::{
    Completion, Confidence, Extent, Followed, Layer, Outcome, OutcomeKind, Piece, Reason, Screen, Started, Status,
    TerminalInfo, Turn,
};
pub use request::{Input, Launch, Preset, TurnOptions, View};

/// The terminals of tenant, plugin, session and assistant of a call.
///
/// ```
/// use std::time::Duration;
/// use wharf_sdk::terminal::{Input, Launch, TurnOptions};
/// use wharf_sdk::testing::{Script, TestCall};
///
/// let python = Script::new().prints(">>> ").answers("6 * 7", "42\n>>> ");
/// let call = TestCall::new().terminal_program("python3", python).call();
///
/// let id = call.terminals().start("python3", &[], &Launch::new())?.terminal.id;
/// let turn = call.terminals().send(&id, Input::Submit("6 * 7"), &TurnOptions::new())?;
/// let mut cursor = turn.start;
/// let mut answer = String::new();
/// loop {
///     let followed = call.terminals().follow(&id, turn.number, cursor, 4_096, Duration::from_secs(5))?;
///     answer.push_str(&followed.piece.text());
///     cursor = followed.piece.next;
///     if followed.is_told_whole() {
///         break;
///     }
/// }
/// assert_eq!(answer, "6 * 7\n42\n>>> ");
/// # Ok::<(), wharf_sdk::ToolError>(())
/// ```
///
/// Every function may also fail with `denied` where something is not granted,
/// with the line of configuration that would allow it, and with `unavailable`
/// where the system refused, or the program is being started again after a
/// crash. Those that take an id answer `not-found` for one that names no
/// terminal of this owner.
#[derive(Debug, Clone, Copy)]
pub struct Terminals<'call> {
    host: &'call ActiveHost,
}

impl Call {
    /// The terminals of this session.
    #[must_use]
    pub fn terminals(&self) -> Terminals<'_> {
        Terminals { host: &self.host }
    }
}

impl Terminals<'_> {
    /// What holds for terminals here.
    ///
    /// # Errors
    /// `internal` where the host says something else than it promises.
    pub fn rules(&self) -> Result<TerminalRules, ToolError> {
        Ok(serde_json::from_str(&self.host.terminal_status()?)?)
    }

    /// Starts a program with arguments, without a shell, and returns once it
    /// runs, which may be before it prints anything.
    ///
    /// # Errors
    /// `denied` where the grant does not name the program; `limit` (retryable)
    /// where the host has no room; `invalid` where it cannot be run or something
    /// is malformed.
    pub fn start(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<Started, ToolError> {
        self.host.start_terminal(program, arguments, launch)
    }

    /// Starts the system's shell for interactive use.
    ///
    /// # Errors
    /// As [`Terminals::start`], and `denied` where no shell is granted.
    pub fn start_shell(&self, launch: &Launch) -> Result<Started, ToolError> {
        self.host.start_shell(launch)
    }

    /// All terminals of this owner, in the order in which they were started,
    /// closed ones as long as they are remembered.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn list(&self) -> Result<Vec<TerminalInfo>, ToolError> {
        self.host.list_terminals()
    }

    /// One terminal.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn get(&self, id: &str) -> Result<TerminalInfo, ToolError> {
        self.host.terminal(id)
    }

    /// Types, and begins a turn. [`Terminals::follow`] waits for what comes.
    ///
    /// # Errors
    /// `conflict` while another turn of this terminal runs; `denied` where the
    /// operator refuses a line of it; `limit` where it is too long; `invalid`
    /// where it has control characters or a name is no key, or for options that
    /// make no sense; `gone` where the program has ended. Nothing was typed
    /// then.
    pub fn send(&self, id: &str, input: Input<'_>, options: &TurnOptions) -> Result<Turn, ToolError> {
        self.host.send(id, input, options)
    }

    /// Follows a turn from a cursor on, which is its start at first and then
    /// the last piece's `next`. Returns once 512 characters came, 50 ms after
    /// the first one, with the turn's end, or after `longest`.
    ///
    /// # Errors
    /// `not-found` where there was no such turn; `gone` where the terminal has
    /// begun another one since.
    pub fn follow(
        &self,
        id: &str,
        turn: u64,
        from: u64,
        max_bytes: u32,
        longest: Duration,
    ) -> Result<Followed, ToolError> {
        self.host.follow(id, turn, from, max_bytes, milliseconds(longest))
    }

    /// Ends a turn, so that the next one may begin. The program is sent
    /// nothing.
    ///
    /// # Errors
    /// As [`Terminals::follow`].
    pub fn cancel(&self, id: &str, turn: u64) -> Result<(), ToolError> {
        self.host.cancel(id, turn)
    }

    /// Presses keys, one after the other, also while a turn runs: single
    /// characters, `Enter`, `Escape`, `Up`, `F1` and the like, with `C-`, `M-`
    /// or `S-` before them. Begins no turn.
    ///
    /// # Errors
    /// `invalid` where a name is unknown; `gone` where the program has ended.
    pub fn press(&self, id: &str, keys: &[&str]) -> Result<(), ToolError> {
        self.host.press(id, keys)
    }

    /// What a person would see now, with at most so many lines that went off
    /// the top.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn screen(&self, id: &str, history_lines: u32) -> Result<Screen, ToolError> {
        self.host.screen(id, history_lines)
    }

    /// At most `max_bytes` (1 MiB at most) of a view from a cursor on. Where
    /// nothing is there yet, waits for something or for the program's end, at
    /// most so long.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn read(&self, id: &str, view: View, from: u64, max_bytes: u32, longest: Duration) -> Result<Piece, ToolError> {
        self.host.read_terminal(id, view, from, max_bytes, milliseconds(longest))
    }

    /// Changes the size: 1 to 500 columns, 1 to 200 rows.
    ///
    /// # Errors
    /// `invalid` outside of that; `gone` where the program has ended.
    pub fn resize(&self, id: &str, columns: u16, rows: u16) -> Result<(), ToolError> {
        self.host.resize(id, columns, rows)
    }

    /// Ends the program and everything that descends from it: it is asked to,
    /// and killed once `grace` (a minute at most) is over. Returns how the
    /// terminal is then.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn close(&self, id: &str, grace: Duration) -> Result<TerminalInfo, ToolError> {
        self.host.close(id, milliseconds(grace))
    }
}
