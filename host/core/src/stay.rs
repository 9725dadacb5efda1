//! A stay in a workspace.
//!
//! Owns no more than that it lasts: the crate of workspaces makes it and says what it
//! holds. Crates that let something work in a workspace keep it, and know nothing of locks.

use std::{any::Any, fmt, sync::Arc};

/// Keeps a workspace from being removed for as long as this, or a clone of it, lives.
#[derive(Clone)]
pub struct WorkspaceStay(Arc<dyn Any + Send + Sync>);

impl WorkspaceStay {
    /// A stay that holds on to `presence`.
    #[must_use]
    pub fn new<T: Any + Send + Sync>(presence: Arc<T>) -> Self {
        Self(presence)
    }
}

impl PartialEq for WorkspaceStay {
    /// Whether both hold on to the same presence.
    fn eq(&self, other: &Self) -> bool {
        Arc::as_ptr(&self.0).addr() == Arc::as_ptr(&other.0).addr()
    }
}

impl Eq for WorkspaceStay {}

impl fmt::Debug for WorkspaceStay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WorkspaceStay").finish_non_exhaustive()
    }
}
