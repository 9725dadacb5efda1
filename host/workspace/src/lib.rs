//! The files of sessions: each session that needs one has a workspace, a
//! directory of the host's making.
//!
//! Owns where workspaces are, whose they are, how many there are, how much they hold and
//! when they go; and how much is in the folders of the operator's that files are exchanged by. It never knows what is in the files, who may open them, or what runs in
//! them; whoever opens a file there does so below the directory that
//! [`Workspace::files`] names, following no link out of it.

#![cfg(unix)]

mod census;
mod error;
mod folders;
mod hold;
mod listing;
mod measure;
mod removal;
mod volume;
mod workspaces;

pub use error::WorkspaceError;
pub use listing::{Listed, Listing};
pub use measure::Usage;
pub use volume::{Measured, Volume};
pub use workspaces::{Settings, Trial, Workspace, Workspaces};
