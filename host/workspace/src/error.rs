//! The errors of workspaces, and what a guest learns of each.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error, QuotaFull, quota::Level};

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The directory of workspaces, or a file in it, cannot be used.
    #[error("the host cannot {action} {}", path.display())]
    Storage {
        /// The action that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The limit of their number is reached.
    #[error(
        "{0}; remove workspaces that nobody needs any more (`wharf sessions` lists them), or use a session that has one"
    )]
    Full(QuotaFull),
    /// No process may start in it, since it, its tenant or all tenants are over a limit.
    #[error("nothing is started here: {}, and that is exceeded; {}", .0.rule(), remedy(.0.level))]
    NoRoom(QuotaFull),
    /// It cannot be removed now.
    #[error(
        "the workspace is in use: a call, process, terminal or page of this host or another one works in it; end them, \
         or wait for half a minute after the last one, and try again"
    )]
    InUse,
}

/// The remedy for a full workspace, tenant or host.
fn remedy(level: Level) -> &'static str {
    match level {
        Level::Session => {
            "empty or remove files of this session with a tool that does, use another session, or have the operator \
             remove its workspace (`wharf sessions`) or raise the limit"
        }
        Level::Tenant => {
            "empty or remove files of this tenant that nobody needs with a tool that does, or have the operator remove \
             workspaces (`wharf sessions` lists them) or raise the limit"
        }
        Level::Host => {
            "have the operator remove workspaces that nobody needs (`wharf sessions` lists them) or raise the limit"
        }
    }
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
        match error {
            WorkspaceError::Storage { action, source, path } => {
                // The path is for the operator alone.
                tracing::warn!(path = %path.display(), %source, "the host cannot {action} a workspace");
                Self::retryable(Code::Unavailable, format!("the host cannot {action} the workspace: {source}"))
            }
            full @ (WorkspaceError::Full(_) | WorkspaceError::NoRoom(_)) => {
                Self::retryable(Code::Limit, full.to_string())
            }
            busy @ WorkspaceError::InUse => Self::retryable(Code::Conflict, busy.to_string()),
        }
    }
}
