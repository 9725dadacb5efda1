//! The workspace in which the children of a session run.
//!
//! Knows nothing of how workspaces are made, or of what is in them.

use std::{any::Any, fmt, path::PathBuf};

use wharf_core::WorkspaceStay;

/// The directories that the children of a session have, and the user that they are.
#[derive(Debug, Clone)]
pub struct ChildWorkspace {
    /// The workspace itself.
    pub files: PathBuf,
    /// Their home directory, with a directory `tmp` in it.
    pub home: PathBuf,
    /// Their user, where it is not the host's own.
    pub user: Option<u32>,
    /// Keeps it from being removed: whatever starts a child there holds this until nothing of
    /// the child is left. Absent where nothing is started.
    pub stay: Option<WorkspaceStay>,
}

/// A workspace that is made for a probe as those of sessions are.
pub struct ProbeWorkspace {
    /// Its directories and its user.
    pub workspace: ChildWorkspace,
    /// Removes the workspace when it is dropped.
    pub guard: Box<dyn Any + Send>,
}

impl fmt::Debug for ProbeWorkspace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ProbeWorkspace").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
