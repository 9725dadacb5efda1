//! Terminals in which interactive programs run: what they print, as bytes, as
//! text and as a screen, and what is typed.
//!
//! A [`TerminalSession`] is one program with a terminal of its own. Everything that the
//! program prints is hostile: `stream` bounds and normalises it before anything
//! else reads it, `screen` draws it, `queries` answers what programs ask their
//! terminal. What is typed is checked by `input` and encoded by `keys`. A
//! [`Turn`] is an input and its answer, until the detector of core says that it
//! is complete; `probe` and `integration` find the facts for that. [`Terminals`]
//! keeps sessions by unguessable id under the [`TerminalOwner`] that started
//! them, bounds how many there are, and starts again what crashed; `view` and
//! `recording` show one to people. On Linux this crate starts nothing itself: it
//! asks a [`wharf_spawn::Spawner`], which also ends the whole tree. Elsewhere a
//! program runs uncontained on the pair that opened its terminal, and only where
//! the operator gave up containment. The crate never knows by which rules an
//! answer is complete, who calls through which protocol, nothing of Wasm and
//! nothing of configuration.

mod ascii;
mod child;
mod error;
mod history;
mod input;
mod integration;
mod keys;
mod pool;
mod private_files;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says what a program waits for"))]
mod probe;
mod pty;
mod queries;
mod recording;
mod screen;
mod session;
mod size;
mod stream;
mod turn;
mod view;

pub use error::TerminalError;
pub use history::HistorySlice;
pub use input::{InputError, InputRules, MAX_CANONICAL_LINE_BYTES, MAX_INPUT_CHARACTERS, RefusedWord};
pub use integration::ShellIntegration;
pub use keys::{Key, UnknownKey};
pub use pool::{
    AttachedTerminal, CloseReason, InvalidProfile, LIFE_BUCKETS_SECONDS, LaunchOutcome, LaunchRequest, ProfileProblem,
    ProfileSettings, RESPONSE_BUCKETS_MILLISECONDS, Restart, ScreenSnapshot, Status, TerminalFailureCounts, TerminalId,
    TerminalInfo, TerminalMetrics, TerminalPoolSettings, TerminalSweepReport, Terminals, TurnOutput, TurnResponseTimes,
    WatchEvent, WatchedTerminal, check_profiles,
};
pub use pty::{LineMode, ProgramEnd, Pty, PtyBackend, SlaveState, TerminalDevice};
pub use queries::{MAX_WAITING_REPLY_BYTES, TerminalQuery};
pub use recording::RecordingSettings;
pub use screen::{Cursor, Screen, ScreenView};
pub use session::{
    HistoryLimits, KilledBy, MAX_MARKS, PlacedMark, ProgramExit, SessionPhase, SessionProgress, TerminalRequest,
    TerminalSession,
};
pub use size::{InvalidSize, MAX_COLUMNS, MAX_ROWS, TerminalSize};
pub use stream::{OutputParser, ParsedEvent, ParsedPiece, ShellMark, ShellMarkKind, TerminalModes};
pub use turn::{Turn, TurnInput, TurnOptions, TurnState};
pub use view::{TooManyViewers, ViewUpdate, Viewer};
pub use wharf_core::TerminalOwner;
pub use wharf_spawn::{ChildLimits, ChildWorkspace, Containment};
