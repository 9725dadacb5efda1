//! How requests for processes fail, and which error the guest gets.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error, QuotaFull, text::with_causes};

use wharf_spawn::{SpawnError, policy::PolicyError};

use crate::InvalidPattern;

/// Why a call on processes failed. Unless said otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// There is no such process, or it is somebody else's. Where its id names another
    /// host, it is [`ProcessError::HostEnded`] instead.
    #[error("there is no such process here; its id may be wrong, or it ended long ago and was removed")]
    NotFound,
    /// There is no such process, and its id names another host.
    #[error("the host that held this process has ended, and the process with it; start another one")]
    HostEnded,
    /// The session, its tenant or the host starts or runs as many processes as
    /// it may.
    #[error("{full}; what commands left running in the background counts, too: stop one or wait until one ends")]
    TooMany {
        /// Whose limit it is.
        full: QuotaFull,
    },
    /// The host keeps as many ended processes as it may, and none of this tenant
    /// that could make room.
    #[error("{full}; this tenant has none that could make room: try again later")]
    TooManyEnded {
        /// Whose limit it is.
        full: QuotaFull,
    },
    /// There is no room on disk for what the process would print.
    #[error("{full}, held by processes that still run: stop one or wait until one ends")]
    NoRoomForOutput {
        /// Whose limit it is.
        full: QuotaFull,
    },
    /// The owner starts or runs as many processes as were granted to it.
    #[error(
        "{limit} processes run here already, as many as were granted, what commands left running in the background \
         included; stop one or wait until one ends"
    )]
    TooManyGranted {
        /// How many it may.
        limit: usize,
    },
    /// The host is about to end.
    #[error("the host is shutting down and starts no more processes")]
    ShuttingDown,
    /// The process could not be started; it is listed as failed.
    #[error("the process could not be started")]
    Start {
        /// Why.
        source: SpawnError,
    },
    /// The request cannot be carried out, or asks for what was not granted.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// What this machine can contain cannot be found out.
    #[error("what this machine can contain cannot be found out")]
    Unknown {
        /// Why.
        source: SpawnError,
    },
    /// The process has ended.
    #[error("the process has ended")]
    Ended,
    /// The supervisor of the process did not take the order.
    #[error("the process cannot be reached")]
    Unreachable {
        /// Why.
        source: SpawnError,
    },
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
        let message = with_causes(&error);
        match error {
            ProcessError::Policy(error) => error.into(),
            ProcessError::Unknown { .. } => Self::retryable(Code::Unavailable, message),
            ProcessError::NotFound => Self::new(Code::NotFound, message),
            ProcessError::TooMany { .. }
            | ProcessError::TooManyGranted { .. }
            | ProcessError::TooManyEnded { .. }
            | ProcessError::NoRoomForOutput { .. } => Self::retryable(Code::Limit, message),
            ProcessError::Start { source } => source.of_start(message),
            ProcessError::ShuttingDown => Self::new(Code::Unavailable, message),
            ProcessError::Unreachable { source: SpawnError::Unsupported(reason) } => {
                Self::new(Code::Unavailable, reason)
            }
            ProcessError::Unreachable { .. } => Self::retryable(Code::Unavailable, message),
            ProcessError::HostEnded | ProcessError::Ended | ProcessError::InputClosed => Self::new(Code::Gone, message),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_to_contain_is_denied_and_says_what_to_do() {
        let source = SpawnError::Uncontainable { missing: "no namespaces here".into(), required: false };
        let error = Error::from(ProcessError::Start { source });
        assert_eq!((error.code, error.retryable), (Code::Denied, false));
        assert!(error.message.contains("`wharf doctor` says what to allow"), "{}", error.message);
    }

    #[test]
    fn what_a_system_lacks_is_said_as_it_is_and_not_to_be_tried_again() {
        let refused = |source| Error::from(ProcessError::Unreachable { source });
        let lacking = refused(SpawnError::Unsupported("no signals here"));
        assert_eq!((&*lacking.message, lacking.code, lacking.retryable), ("no signals here", Code::Unavailable, false));
        assert!(refused(SpawnError::Lost).retryable);
    }

    #[test]
    fn not_found_is_said_of_ids_alone_and_a_program_that_is_missing_is_named() {
        let source =
            SpawnError::Program { step: "run", path: "/bin/absent".into(), source: io::ErrorKind::NotFound.into() };
        let error = Error::from(ProcessError::Start { source });
        assert_eq!(error.code, Code::Invalid);
        assert!(error.message.contains("cannot run /bin/absent: "), "{}", error.message);
        assert_eq!(Error::from(ProcessError::NotFound).code, Code::NotFound);
    }
}
