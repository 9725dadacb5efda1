//! What can go wrong with streams, and what callers are told of it.

use wharf_core::{Code, Error, QuotaFull};

use crate::detection::InvalidParameter;

/// Why a call on a stream failed. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// There is none of this id that this caller may see. Where it names another host, it
    /// is [`StreamError::HostEnded`] instead.
    #[error("there is no such stream; streams are kept for a while after their end, and belong to one session")]
    NotFound,
    /// There is none of this id that this caller may see, and it names another host.
    #[error("the host that held this stream has ended, and the stream with it; open another one")]
    HostEnded,
    /// It does not take events any more.
    #[error("this stream has ended ({0}); open another one")]
    Ended(&'static str),
    /// A turn runs already.
    #[error("a turn runs on this stream; wait for its end, or cancel it")]
    Busy,
    /// No turn runs, or not this one.
    #[error("no such turn runs on this stream")]
    NoTurn,
    /// Turns are numbered upwards.
    #[error("a turn must have a higher number than {last}, the last one's, not {given}")]
    TurnNumber {
        /// The last turn's.
        last: u64,
        /// What was asked for.
        given: u64,
    },
    /// The source has a detector of its own.
    #[error("the source of this stream decides itself when its turns end")]
    Told,
    /// What holds the stream decides when it goes.
    #[error("this stream lives as long as its {0}; close that instead")]
    Held(&'static str),
    /// A number that no event has, nor the next one will have.
    #[error("this stream has no event before {from} yet: the next one will have the number {next}")]
    Ahead {
        /// From where was to be read.
        from: u64,
        /// The number that the next event will have.
        next: u64,
    },
    /// An event is too large.
    #[error(
        "an event may have at most {limit} bytes of JSON, and this one has {bytes} (limit `event_bytes`); send several"
    )]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What is allowed.
        limit: u64,
    },
    /// Progress beyond its ends.
    #[error("`percent` must be from 0 to 100")]
    Percent,
    /// Too many streams, and none of the tenant's own that count has ended.
    #[error("{0}; complete or delete one")]
    TooMany(QuotaFull),
    /// The parameters of completion detection contradict themselves.
    #[error(transparent)]
    Parameters(#[from] InvalidParameter),
    /// The system gives no randomness for an id.
    #[error("the system has no randomness to give")]
    Randomness(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Self {
        let message = error.to_string();
        match error {
            StreamError::NotFound => Self::new(Code::NotFound, message),
            StreamError::HostEnded | StreamError::Ended(_) => Self::new(Code::Gone, message),
            StreamError::Busy => Self::retryable(Code::Conflict, message),
            StreamError::NoTurn | StreamError::Told | StreamError::Held(_) => Self::new(Code::Conflict, message),
            StreamError::TurnNumber { .. }
            | StreamError::Ahead { .. }
            | StreamError::Percent
            | StreamError::Parameters(_) => Self::new(Code::Invalid, message),
            StreamError::TooLarge { .. } => Self::new(Code::Limit, message),
            StreamError::TooMany(_) => Self::retryable(Code::Limit, message),
            StreamError::Randomness(_) => Self::retryable(Code::Unavailable, message),
        }
    }
}
