//! The files of sessions: each session that needs one has a workspace, a
//! directory of the host's making.
//!
//! Owns where workspaces are, whose they are, how much they hold and when they
//! go. It never knows what is in the files, who may open them, or what runs in
//! them; whoever opens a file there does so below the directory that
//! [`Workspace::files`] names, following no link out of it.

#![cfg(unix)]

mod error;
mod listing;
mod measure;
mod workspaces;

pub use error::WorkspaceError;
pub use listing::Listed;
pub use measure::Usage;
pub use workspaces::{Settings, Trial, Workspace, Workspaces};
