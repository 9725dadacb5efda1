//! Child processes that an agent can run, follow and always stop.
//!
//! [`Processes`] keeps them by unguessable id under the [`Owner`] that started
//! them, writes what they print to files within a quota, tells what became of
//! them, and advises whoever asks too often. This crate starts nothing itself:
//! it is handed a [`Launch`]. It never knows who calls through which protocol,
//! what was granted, or how a child is contained, and nothing of Wasm or of
//! configuration.
#![cfg(unix)]

mod error;
mod id;
mod launch;
pub mod output;
mod pattern;
pub mod polls;
mod registry;
mod status;

pub use error::{OpenError, ProcessError};
pub use id::{Owner, ProcessId};
pub use launch::{Child, ChildExit, Launch, LaunchError, LaunchRequest, Signal};
pub use pattern::{Found, InvalidPattern, Pattern};
pub use registry::{Polled, Processes, Reason, Settings, SpawnRequest, Swept, Until, Waited};
pub use status::{Exit, KilledBy, Snapshot, Status, StreamName, StreamState};
