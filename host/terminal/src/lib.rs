//! Terminals in which interactive programs run: what they print, as bytes, as
//! text and as a screen, and what is typed.
//!
//! A [`TerminalSession`] is one program with a terminal of its own. All that the
//! program prints is hostile: `stream` bounds and normalises it before anything
//! else reads it, `screen` draws it, `replies` answers what programs ask their
//! terminal. What is typed is checked by `input` and encoded by `keys`. A
//! [`Turn`] is an input and its answer, until the detector of `wharf_completion`
//! says that it is complete; `probe` and `integration` find the facts for that.
//! [`Terminals`] finds sessions by unguessable id under the [`TerminalOwner`] that
//! started them; `pool` bounds how many there are, and starts again what crashed;
//! `view` and `recording` show one to people.
//!
//! On Linux this crate starts nothing itself: it asks a [`wharf_spawn::Spawner`],
//! which also ends the whole tree. Elsewhere a program runs uncontained on the
//! pair that opened its terminal, and only where the operator gave up
//! containment. The crate never knows by which rules an answer is complete, or who
//! calls through which protocol, and knows nothing of Wasm or of configuration.
//!
//! Modules import those above them in this list or beside them, never those below:
//!
//! | modules | |
//! |---|---|
//! | `ascii`, `size`, `input`, `history`, `pty` | bytes, limits and the system's pair |
//! | `stream`, `keys` | what is printed, and what is pressed, in the language of terminals |
//! | `screen`, `view`, `replies` | what a person sees, and what a program is told |
//! | `shared_terminal` | one terminal, as its tasks share it |
//! | `request`, `integration`, `child`, `probe`, `turn`, `session` | one program in it, and its turns |
//! | `recording`, `profile`, `pool`, `terminals` | all terminals of a host |

mod ascii;
mod child;
mod error;
mod history;
mod input;
mod integration;
mod keys;
mod pool;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says what a program waits for"))]
mod probe;
mod profile;
mod pty;
mod recording;
mod replies;
mod request;
mod screen;
mod session;
mod shared_terminal;
mod size;
mod stream;
mod terminals;
mod turn;
mod view;

pub use error::TerminalError;
pub use history::{HistoryLimits, HistorySlice};
pub use input::{InputError, InputRules, MAX_CANONICAL_LINE_BYTES, MAX_INPUT_CHARACTERS, RefusedWord};
pub use integration::ShellIntegration;
pub use keys::{Key, UnknownKey};
pub use pool::{
    CloseReason, LIFE_BUCKETS_SECONDS, LaunchOutcome, RESPONSE_BUCKETS_MILLISECONDS, Restart, ScreenSnapshot, Status,
    TerminalFailureCounts, TerminalId, TerminalInfo, TerminalMetrics, TerminalPoolSettings, TurnOutput,
    TurnResponseTimes,
};
pub use profile::{InvalidProfile, ProfileProblem, ProfileSettings, check_profiles};
pub use pty::{LineMode, ProgramEnd, Pty, PtyBackend, SlaveState, TerminalDevice};
pub use recording::RecordingSettings;
pub use replies::MAX_WAITING_REPLY_BYTES;
pub use request::TerminalRequest;
pub use screen::{Cursor, Screen, ScreenView};
pub use session::TerminalSession;
pub use shared_terminal::{KilledBy, MAX_MARKS, PlacedMark, ProgramExit, SessionPhase, SessionProgress, Viewer};
pub use size::{InvalidSize, MAX_COLUMNS, MAX_ROWS, TerminalSize};
pub use stream::{OutputParser, ParsedEvent, ParsedPiece, ShellMark, ShellMarkKind, TerminalModes, TerminalQuery};
pub use terminals::{AttachedTerminal, LaunchRequest, TerminalSweepReport, Terminals, WatchEvent, WatchedTerminal};
pub use turn::{Turn, TurnInput, TurnOptions, TurnState};
pub use view::{TooManyViewers, ViewUpdate};
pub use wharf_core::TerminalOwner;
pub use wharf_spawn::{ChildLimits, ChildWorkspace, Containment};
