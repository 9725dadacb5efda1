//! What can go wrong with processes, and what the guest is told of it.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error};

use crate::{InvalidPattern, LaunchError};

/// Why a call on processes failed. Unless said otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such process, or it is somebody else's.
    #[error("there is no such process here; its id may be wrong, or it ended long ago and was removed")]
    NotFound,
    /// The session starts or runs as many processes as it may.
    #[error("this session already runs {limit} processes, as many as it may; stop one or wait until one ends")]
    TooMany {
        /// How many it may.
        limit: usize,
    },
    /// The process could not be started; it is listed as failed.
    #[error("the process could not be started")]
    Start {
        /// Why.
        source: LaunchError,
    },
    /// The process has ended.
    #[error("the process has ended")]
    Ended,
    /// The standard input was closed, was never open, or nobody reads it.
    #[error("the standard input of this process is closed")]
    InputClosed,
    /// A pattern that cannot be waited for.
    #[error("the pattern cannot be used")]
    Pattern {
        /// Why.
        #[from]
        source: InvalidPattern,
    },
    /// The host's own files failed.
    #[error("the host could not {what}")]
    Storage {
        /// What it was about to do.
        what: &'static str,
        /// What happened.
        source: io::Error,
    },
}

impl ProcessError {
    pub(crate) fn storage(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Storage { what, source }
    }
}

impl From<ProcessError> for Error {
    fn from(error: ProcessError) -> Self {
        let message = match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        match error {
            ProcessError::NotFound => Self::new(Code::NotFound, message),
            ProcessError::TooMany { .. } => Self::retryable(Code::Limit, message),
            ProcessError::Start { source } => match source {
                LaunchError::Refused { .. } => Self::new(Code::Denied, message),
                LaunchError::Failed { .. } => Self::new(Code::Invalid, message),
                LaunchError::Unavailable { .. } => Self::retryable(Code::Unavailable, message),
            },
            ProcessError::Ended | ProcessError::InputClosed => Self::new(Code::Gone, message),
            ProcessError::Pattern { .. } => Self::new(Code::Invalid, message),
            ProcessError::Storage { .. } => Self::retryable(Code::Unavailable, message),
        }
    }
}

/// Why the directory of the processes cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the directory of processes {} cannot be used", directory.display())]
pub struct OpenError {
    /// Which directory.
    pub directory: PathBuf,
    /// What happened.
    pub source: io::Error,
}
