//! The one error that crosses the wall, in both directions.

use std::fmt;

use wharf_contract::types::ErrorCode;

/// What went wrong, in a word: those of the contract, and one of the host's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The operator has not granted it.
    Denied,
    /// An argument is malformed or out of range.
    Invalid,
    /// There is no such thing, or it belongs to somebody else.
    NotFound,
    /// It changed since it was read.
    Conflict,
    /// A limit or quota is reached.
    Limit,
    /// The time for it ended first.
    Timeout,
    /// It existed and does not any more.
    Gone,
    /// A service that is needed does not answer.
    Unavailable,
    /// The caller took it back.
    Cancelled,
    /// A defect of the host or of the plugin.
    Internal,
}

impl Code {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self.of_contract() {
            Some(code) => code.as_str(),
            None => "cancelled",
        }
    }

    /// The code for a word that a plugin sent; unknown words count as
    /// [`Code::Internal`], and a plugin cannot claim a cancellation.
    #[must_use]
    pub fn from_guest(word: &str) -> Self {
        match ErrorCode::from_word(word) {
            ErrorCode::Denied => Self::Denied,
            ErrorCode::Invalid => Self::Invalid,
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::Conflict => Self::Conflict,
            ErrorCode::Limit => Self::Limit,
            ErrorCode::Timeout => Self::Timeout,
            ErrorCode::Gone => Self::Gone,
            ErrorCode::Unavailable => Self::Unavailable,
            ErrorCode::Internal => Self::Internal,
        }
    }

    /// The same in the contract, which has no word for a cancellation: the
    /// plugin is gone by then.
    fn of_contract(self) -> Option<ErrorCode> {
        Some(match self {
            Self::Denied => ErrorCode::Denied,
            Self::Invalid => ErrorCode::Invalid,
            Self::NotFound => ErrorCode::NotFound,
            Self::Conflict => ErrorCode::Conflict,
            Self::Limit => ErrorCode::Limit,
            Self::Timeout => ErrorCode::Timeout,
            Self::Gone => ErrorCode::Gone,
            Self::Unavailable => ErrorCode::Unavailable,
            Self::Internal => ErrorCode::Internal,
            Self::Cancelled => return None,
        })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why a call failed: a code for programs, a message for people and models.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What went wrong, in a word.
    pub code: Code,
    /// What happened and what to do about it.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

impl Error {
    /// An error that trying again does not mend.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false }
    }

    /// An error that trying again may mend.
    #[must_use]
    pub fn retryable(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: true }
    }
}

impl From<crate::InvalidId> for Error {
    fn from(error: crate::InvalidId) -> Self {
        Self::new(Code::Invalid, error.to_string())
    }
}
