//! Terminals in which interactive programs run: what they print, as bytes, as
//! text and as a screen, and what is typed.
//!
//! A [`Session`] is one program with a terminal of its own. Everything that the
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
pub use history::Slice;
pub use input::{InputError, InputRules, MAX_CANONICAL_LINE_BYTES, MAX_INPUT_CHARACTERS, RefusedWord};
pub use integration::ShellIntegration;
pub use keys::{Key, UnknownKey};
pub use pool::{
    Attached, CloseReason, Errors, Followed, InvalidProfile, LIFE_BUCKETS_SECONDS, Metrics, ProfileProblem,
    ProfileSettings, RESPONSE_BUCKETS_MILLISECONDS, Responses, Restart, Seen, Settings, Shown, Started, Status, Swept,
    TerminalId, TerminalInfo, Terminals, Wanted, Watched, check_profiles,
};
pub use pty::{Device, Inside, LineMode, ProgramEnd, Pty, PtyBackend};
pub use queries::{MAX_WAITING_REPLY_BYTES, Query};
pub use recording::RecordingSettings;
pub use screen::{Cursor, Screen, ScreenView};
pub use session::{Exit, History, KilledBy, MAX_MARKS, Phase, PlacedMark, Progress, Session, TerminalRequest};
pub use size::{InvalidSize, MAX_COLUMNS, MAX_ROWS, Size};
pub use stream::{Event, Mark, MarkKind, Modes, Piece, Stream};
pub use turn::{Turn, TurnInput, TurnOptions, TurnState};
pub use view::{TooManyViewers, Update, Viewer};
pub use wharf_core::TerminalOwner;
pub use wharf_spawn::{ChildLimits, ChildWorkspace, Containment};
