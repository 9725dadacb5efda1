//! What can go wrong with workspaces, and what the guest is told of it.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error, QuotaFull, quota::Level};

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
    /// There are as many as there may be.
    #[error(
        "{0}; remove workspaces that nobody needs any more (`wharf sessions` lists them), or use a session that has one"
    )]
    Full(QuotaFull),
    /// It takes nothing that runs, since it is over a limit, or its tenant or all tenants are.
    #[error("nothing is started here: {}, and that is exceeded; {}", .0.rule(), remedy(.0.level))]
    NoRoom(QuotaFull),
    /// It cannot be removed now.
    #[error(
        "the workspace is in use: a call, process, terminal or page of this host or another one works in it; end them, \
         or wait for half a minute after the last one, and try again"
    )]
    InUse,
}

/// How room is made.
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
                // The path is the operator's business.
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
