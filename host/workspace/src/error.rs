//! What can go wrong with workspaces, and what the guest is told of it.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error};

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The directory of workspaces, or something in it, cannot be used.
    #[error("the host cannot {action} {}", path.display())]
    Storage {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl WorkspaceError {
    pub(crate) fn storage<E: Into<io::Error>>(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Storage { action, path: path.into(), source: source.into() }
    }
}

impl From<WorkspaceError> for Error {
    fn from(error: WorkspaceError) -> Self {
        let WorkspaceError::Storage { action, source, path } = error;
        // The path is the operator's business.
        tracing::warn!(path = %path.display(), %source, "the host cannot {action} a workspace");
        Self::retryable(Code::Unavailable, format!("the host cannot {action} the workspace: {source}"))
    }
}
