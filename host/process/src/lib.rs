//! Child processes that an agent can run, follow and always stop.
//!
//! [`Processes`] keeps them by unguessable id under the [`Owner`] that started
//! them, writes what they print to files within a quota, tells how they ended, and
//! advises callers that ask too often. This crate starts nothing itself: it asks a
//! [`wharf_spawn::Spawner`]. What a process has follows from its grant (`policy`). It
//! never knows who calls through which protocol, how a child is contained, and nothing of
//! Wasm or of configuration. Where the spawner starts nothing, neither does this crate.

mod ends;
mod error;
mod id;
pub mod output;
mod pattern;
mod policy;
pub mod polls;
mod registry;
mod settings;
mod status;

pub use error::{OpenError, ProcessError};
pub use id::ProcessId;
pub use output::StreamState;
pub use pattern::{InvalidPattern, Pattern, PatternMatch};
pub use policy::{ChildWorkspace, ProcessRequest};
pub use polls::PollStatistics;
pub use registry::{
    PollReport, ProcessBounds, ProcessCounts, ProcessLook, Processes, SpawnRequest, SweepReport, WaitCondition,
    WaitEnd, WaitOutcome,
};
pub use settings::ProcessSettings;
pub use status::{Exit, KilledBy, ProcessSnapshot, Status, StreamName};
pub use wharf_core::Owner;
pub use wharf_spawn::{Capabilities, ChildLimits, Containment, SandboxMechanism, Signal, TreeProcess};
