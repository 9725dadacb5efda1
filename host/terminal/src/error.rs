//! What can go wrong with terminals, and what the guest is told of it.
//!
//! Owns the words and the code of each failure. Never decides one.

use std::io;

use wharf_completion::detection::InvalidParameter;
use wharf_core::{Code, Error, QuotaFull, text::with_causes};
use wharf_spawn::{SpawnError, policy::PolicyError};

use crate::{InputError, InvalidSize, TooManyViewers, UnknownKey};

/// Why a call on a terminal failed. Unless said otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// The program could not be started.
    #[error("the program could not be started")]
    Start {
        /// Why.
        source: SpawnError,
    },
    /// There is no such terminal, or it belongs to somebody else. Where its id names
    /// another host, it is [`TerminalError::HostEnded`] instead.
    #[error("there is no such terminal here")]
    NotFound,
    /// There is no such terminal, and its id names another host.
    #[error("the host that held this terminal has ended, and the terminal with it; start another one")]
    HostEnded,
    /// There is no such turn, or it is long over.
    #[error(
        "there is no turn {turn} of this terminal that is still kept, the last one is {last}; read its output instead"
    )]
    NoTurn {
        /// Which was asked for.
        turn: u64,
        /// The last one; 0 where there was none.
        last: u64,
    },
    /// The request cannot be carried out.
    #[error("{problem}")]
    Invalid {
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The request cannot be carried out here, or asks for what was not granted.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// As many terminals of the owner as it may have are being started.
    #[error("{limit} of your terminals are being started already, as many as you may have; wait until one runs")]
    Starting {
        /// How many it may have.
        limit: usize,
    },
    /// There are as many terminals as there may be, and none of the tenant's own
    /// is unused.
    #[error(
        "{full}; none of this tenant's that count is unused for {unused_seconds} s (`evictable_after_seconds`): close \
         one, or wait until one is"
    )]
    Full {
        /// Which limit is reached.
        full: QuotaFull,
        /// How long one must be unused to make room.
        unused_seconds: u64,
    },
    /// It cannot have the stream of events that it must have.
    #[error(
        "too many streams are open to tell of this terminal, so it was not started; delete one, or close a terminal"
    )]
    NoEventStream,
    /// The host is about to end.
    #[error("the host is shutting down and starts no more terminals")]
    ShuttingDown,
    /// The program crashed.
    #[error("the program of this terminal crashed and is being started again; try again in a moment")]
    Restarting,
    /// A program cannot take the place of one that lives.
    #[error("the program of this terminal, or what it left behind, still runs")]
    Runs,
    /// Too many people and recordings look on.
    #[error(transparent)]
    TooManyViewers(#[from] TooManyViewers),
    /// The program has ended, or has closed its terminal.
    #[error("the program of this terminal has ended")]
    Closed,
    /// The terminal is over, and it is known why.
    #[error("this terminal is closed: {because}; what it printed can still be read")]
    Over {
        /// Why, as a part of a sentence.
        because: String,
    },
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
        let message = with_causes(&error);
        match error {
            TerminalError::Start { source } => source.of_start(message),
            TerminalError::Policy(error) => error.into(),
            TerminalError::NotFound => Self::new(Code::NotFound, message),
            TerminalError::NoTurn { turn, last } if (1..=last).contains(&turn) => Self::new(Code::Gone, message),
            TerminalError::NoTurn { .. } => Self::new(Code::NotFound, message),
            TerminalError::Invalid { .. } => Self::new(Code::Invalid, message),
            TerminalError::Starting { .. }
            | TerminalError::Full { .. }
            | TerminalError::NoEventStream
            | TerminalError::TooManyViewers(_) => Self::retryable(Code::Limit, message),
            TerminalError::ShuttingDown => Self::new(Code::Unavailable, message),
            TerminalError::Restarting => Self::retryable(Code::Unavailable, message),
            TerminalError::Runs => Self::new(Code::Conflict, message),
            TerminalError::HostEnded | TerminalError::Closed | TerminalError::Over { .. } => {
                Self::new(Code::Gone, message)
            }
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
