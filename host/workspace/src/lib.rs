//! The files of sessions: each session that needs one has a workspace, a
//! directory that the host makes.
//!
//! Owns the paths, owners, number, size and end of workspaces, and the size of the
//! operator's exchange folders. It never knows the content of files, who may open them, or
//! what runs in workspaces. Callers open files below the directory
//! [`Workspace::files`], and follow no link out of it. Only Linux has workspaces; elsewhere
//! each is refused (see `system`).

mod census;
mod disk_usage;
mod error;
mod exchange;
mod in_use;
mod layout;
mod listing;
mod lock;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod removal;
mod system;
mod volume;
mod workspaces;

pub use disk_usage::DiskUsage;
pub use error::WorkspaceError;
pub use layout::{TrialWorkspace, Workspace};
pub use listing::{WorkspaceListing, WorkspaceSummary};
pub use volume::{Volume, VolumeMeasurement};
pub use workspaces::{WorkspaceOptions, Workspaces};
