//! The errors of starting and ending children.

use std::{io, path::PathBuf};

use wharf_core::{Code, Error};

use crate::request::MAX_REQUEST_BYTES;

/// Why a child was not started, or is lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// Containment is required and this machine offers none.
    #[error("the program cannot be contained on this machine: {missing}; {}", remedy(*required))]
    Uncontainable {
        /// What is missing, for people.
        missing: String,
        /// Whether the operator requires it of the whole host, whatever a grant says.
        required: bool,
    },
    /// The mechanism that contains programs here failed in a trial, or did not answer.
    #[error("the program cannot be contained at the moment: {missing}; it is tried again soon")]
    Unproven {
        /// What failed, for people.
        missing: String,
    },
    /// `/dev/null` cannot be used.
    #[error("no program can be started without the null device")]
    NullDevice(#[source] io::Error),
    /// The mechanism that contains programs here cannot show a file at another path.
    #[error(
        "{} cannot be shown as {}: Landlock contains programs on this machine, and shows everything at its own path",
        source_path.display(), target.display()
    )]
    Moved {
        /// Its path.
        source_path: PathBuf,
        /// The requested path.
        target: PathBuf,
    },
    /// The request names another user, and the host is not root.
    #[error("a program can run as user {user} only where the host is root")]
    User {
        /// The user.
        user: u32,
    },
    /// This system cannot do what the request needs: the reason, for people.
    #[error("{0}")]
    Unsupported(&'static str),
    /// No program can be given this path, argument or variable.
    #[error("{what} {shown:?} cannot be given to a program: {why}")]
    Illegal {
        /// The part of the request.
        what: &'static str,
        /// Its beginning.
        shown: String,
        /// The problem with it.
        why: &'static str,
    },
    /// Arguments and environment are too long.
    #[error("arguments and environment are {given} bytes together, more than {MAX_REQUEST_BYTES}; put some in a file")]
    TooLarge {
        /// Their length in bytes.
        given: usize,
    },
    /// The program could not be executed.
    #[error("cannot {step} {}", path.display())]
    Program {
        /// The step that failed: `run` or `enter`.
        step: &'static str,
        /// The program or its working directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The sandbox ended before the program began.
    #[error("the sandbox could not be set up: {why}")]
    Sandbox {
        /// The step that failed, and the system's reason.
        why: String,
        /// Whether the system lets no program of the host's user take that step.
        forbidden: bool,
    },
    /// The control group that bounds the whole tree could not be made.
    #[error(
        "the control group that bounds the memory or the processes of this child could not be made or entered; it is \
         not started without its bounds"
    )]
    Bounds(#[source] io::Error),
    /// The supervisor could not be started.
    #[error("the supervisor of children could not be started")]
    Supervisor(#[source] io::Error),
    /// The supervisor was killed, and its tree with it.
    #[error("the supervisor of this child ended before the child did; how the child ended is not known")]
    Lost,
    /// The system refused a step of the start.
    #[error("cannot {action}")]
    System {
        /// The step.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

/// The remedy where nothing contains.
fn remedy(required: bool) -> &'static str {
    match (cfg!(target_os = "linux"), required) {
        (true, true) => "`wharf doctor` says what to allow; no grant gives that up here",
        (true, false) => {
            "`wharf doctor` says what to allow; or have the operator say `require_containment = false`, which gives the program \
             all that the host's own user may do"
        }
        (false, true) => "the operator requires it of every program, whatever a grant says",
        (false, false) => {
            "have the operator say `require_containment = false`, which gives the program all that the host's own user \
             may do, without limits"
        }
    }
}

impl SpawnError {
    /// The error for `map_err` after an attempt to do `action`.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }
}

impl SpawnError {
    /// The error for a caller whose program was not started because of this one.
    /// `message` says so, with this error as its cause.
    #[must_use]
    pub fn of_start(self, message: String) -> Error {
        if let Self::Uncontainable { .. } = self {
            // In its own words, which say what to do.
            return Error::new(Code::Denied, self.to_string());
        }
        match Error::from(self) {
            // This word is for ids alone.
            Error { code: Code::NotFound, .. } => Error::new(Code::Invalid, message),
            Error { code: Code::Internal, .. } => Error::retryable(Code::Unavailable, message),
            Error { code, retryable, .. } => Error { code, message, retryable },
        }
    }
}

impl From<SpawnError> for Error {
    fn from(error: SpawnError) -> Self {
        let code = match &error {
            SpawnError::Uncontainable { .. } | SpawnError::Supervisor(_) | SpawnError::Unsupported(_) => {
                Code::Unavailable
            }
            SpawnError::Unproven { .. } | SpawnError::NullDevice(_) => Code::Unavailable,
            SpawnError::Moved { .. } | SpawnError::User { .. } => Code::Unavailable,
            SpawnError::Illegal { .. } => Code::Invalid,
            SpawnError::TooLarge { .. } => Code::Limit,
            SpawnError::Program { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Code::NotFound,
                io::ErrorKind::PermissionDenied => Code::Denied,
                _ => Code::Invalid,
            },
            SpawnError::Sandbox { .. } | SpawnError::Bounds(_) | SpawnError::Lost | SpawnError::System { .. } => {
                Code::Internal
            }
        };
        let cause = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
        let passes = matches!(error, SpawnError::Unproven { .. } | SpawnError::NullDevice(_));
        Self { retryable: passes, ..Self::new(code, format!("{error}{cause}")) }
    }
}
