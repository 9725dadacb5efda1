//! What can go wrong with terminals, and what the guest is told of it.

use std::io;

use wharf_core::{Code, Error, completion::InvalidParameter};
use wharf_spawn::SpawnError;

use crate::{InputError, InvalidSize, UnknownKey};

/// Why a call on a terminal failed. Unless said otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The program could not be started.
    #[error("the program could not be started")]
    Start {
        /// Why.
        source: SpawnError,
    },
    /// The program has ended, or has closed its terminal.
    #[error("the program of this terminal has ended")]
    Closed,
    /// Another turn runs, and a terminal has one writer at a time.
    #[error(
        "turn {turn} of this terminal is not complete yet; follow it to its end, answer it with keys, or cancel it first"
    )]
    Busy {
        /// Its number.
        turn: u64,
    },
    /// A turn cannot be judged so.
    #[error(transparent)]
    Parameters(#[from] InvalidParameter),
    /// A text that is not typed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A name that is no key.
    #[error(transparent)]
    Key(#[from] UnknownKey),
    /// A size that no terminal has.
    #[error(transparent)]
    Size(#[from] InvalidSize),
    /// The system refused something.
    #[error("the host could not {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl TerminalError {
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}

impl From<TerminalError> for Error {
    fn from(error: TerminalError) -> Self {
        let message = told(&error);
        match error {
            // In the launcher's own words, which say what to do.
            TerminalError::Start { source: source @ SpawnError::Uncontainable { .. } } => {
                Self::new(Code::Denied, told(&source))
            }
            TerminalError::Start { source } => match Self::from(source) {
                // This word is for ids alone.
                Self { code: Code::NotFound, .. } => Self::new(Code::Invalid, message),
                Self { code: Code::Internal, .. } => Self::retryable(Code::Unavailable, message),
                Self { code, retryable, .. } => Self { code, message, retryable },
            },
            TerminalError::Closed => Self::new(Code::Gone, message),
            TerminalError::Busy { .. } => Self::new(Code::Conflict, message),
            TerminalError::Input(InputError::Refused { .. }) => Self::new(Code::Denied, message),
            TerminalError::Input(InputError::TooLong { .. } | InputError::LineTooLong { .. }) => {
                Self::new(Code::Limit, message)
            }
            TerminalError::Input(InputError::Key { .. } | InputError::Control { .. })
            | TerminalError::Key(_)
            | TerminalError::Parameters(_)
            | TerminalError::Size(_) => Self::new(Code::Invalid, message),
            TerminalError::System { .. } => Self::retryable(Code::Unavailable, message),
        }
    }
}

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whose_it_is() {
        let refused = InputError::Refused { word: "exit".into(), reason: "close it".into() };
        assert_eq!(Error::from(TerminalError::from(refused)).code, Code::Denied);
        assert_eq!(Error::from(TerminalError::Closed).code, Code::Gone);
        let missing =
            SpawnError::Program { step: "run", path: "/bin/absent".into(), source: io::ErrorKind::NotFound.into() };
        let error = Error::from(TerminalError::Start { source: missing });
        assert_eq!(error.code, Code::Invalid);
        assert!(error.message.contains("cannot run /bin/absent: "), "{}", error.message);
    }
}
