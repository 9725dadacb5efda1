//! Child processes that an agent can run, follow and always stop.
//!
//! [`Processes`] keeps them by unguessable id under the [`Owner`] that started
//! them, writes what they print to files within a quota, tells what became of
//! them, and advises whoever asks too often. This crate starts nothing itself:
//! it asks a [`wharf_spawn::Spawner`]. What a process has follows from its grant
//! (`policy`). It never knows who calls through which protocol, how a child is
//! contained, and nothing of Wasm or of configuration. Where the spawner starts nothing,
//! neither does this crate.

mod error;
mod id;
pub mod output;
mod pattern;
mod policy;
pub mod polls;
mod private_files;
mod registry;
mod status;

pub use error::{OpenError, ProcessError};
pub use id::ProcessId;
pub use pattern::{Found, InvalidPattern, Pattern};
pub use policy::{ChildWorkspace, Wanted};
pub use registry::{Counts, PollStatistics, Polled, Processes, Reason, Settings, SpawnRequest, Swept, Until, Waited};
pub use status::{Exit, KilledBy, Snapshot, Status, StreamName, StreamState};
pub use wharf_core::Owner;
pub use wharf_spawn::{Capabilities, ChildLimits, Containment, SandboxMechanism, Signal};
