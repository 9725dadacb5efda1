//! The files of sessions: each session that needs one has a workspace, a
//! directory that the host makes.
//!
//! Owns the paths, owners, number, size and end of workspaces, and the size of the
//! operator's exchange folders. It never knows the content of files, who may open them, or
//! what runs in workspaces. Callers open files below the directory
//! [`Workspace::files`], and follow no link out of it. The crate itself measures and removes
//! what a guest may have named without following a link on any system (see `system`).

mod archive;
mod backup;
mod census;
mod disk_usage;
mod error;
mod exchange;
mod in_use;
mod layout;
mod listing;
mod lock;
mod owners;
mod restore;
mod system;
mod users;
mod volume;
mod walk;
mod workspaces;

pub use disk_usage::DiskUsage;
pub use error::WorkspaceError;
pub use layout::{TrialWorkspace, Workspace};
pub use listing::{WorkspaceListing, WorkspaceSummary};
pub use owners::FileNumber;
pub use restore::{WorkspaceRefusal, WorkspaceRestore};
pub use volume::{SpaceChange, Volume, VolumeMeasurement};
pub use walk::{BackupContent, BackupEntry, FilesLeftOut};
pub use workspaces::{WorkspaceOptions, Workspaces};
