//! The one error of a tool, and of everything that a tool calls.
//!
//! It knows nothing of Wasm; `wit_host` converts what the host sends.

use std::fmt;

pub use wharf_contract::types::ErrorCode;

/// Why a tool could not do what it was asked.
///
/// The model reads it as an answer that is marked as an error, so the message
/// says what happened and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// What went wrong, in a word.
    pub code: ErrorCode,
    /// What happened, and what to do about it.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $code:ident, retryable $retryable:literal;)*) => {
        impl ToolError {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(message: impl Into<String>) -> Self {
                Self { code: ErrorCode::$code, message: message.into(), retryable: $retryable }
            })*
        }
    };
}

constructors! {
    /// The operator has not granted it.
    denied = Denied, retryable false;
    /// An argument is malformed, out of range or makes no sense here.
    invalid = Invalid, retryable false;
    /// There is no such thing.
    not_found = NotFound, retryable false;
    /// Something changed since it was read: the same call may succeed now.
    conflict = Conflict, retryable true;
    /// A limit is reached: name it, its value, and what would make room.
    limit = Limit, retryable false;
    /// A wait ended before what was waited for.
    timeout = Timeout, retryable true;
    /// It existed, and does not any more.
    gone = Gone, retryable false;
    /// A service that this needs does not answer now.
    unavailable = Unavailable, retryable true;
    /// A defect of the tool.
    internal = Internal, retryable false;
}

impl ToolError {
    /// The same error, saying what to do next: such as "list_todos shows those that there are".
    #[must_use]
    pub fn with_advice(self, advice: impl fmt::Display) -> Self {
        Self { message: format!("{}; {advice}", self.message), ..self }
    }
}

/// Tools write `?` after what serde_json does, so nearly each would write this conversion. Only
/// the words of the cause stay: no type here contains it, and authors who never name serde_json
/// never meet it.
impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(format!("a value could not be turned into JSON or back: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_what_happened_and_changes_nothing_else() {
        let error = ToolError::conflict("it runs").with_advice("stop_it ends it");
        assert_eq!(error, ToolError { message: "it runs; stop_it ends it".into(), ..ToolError::conflict("") });
    }

    #[test]
    fn every_code_has_a_word_that_leads_back_to_it_and_other_words_are_internal() {
        for word in
            ["denied", "invalid", "not-found", "conflict", "limit", "timeout", "gone", "unavailable", "internal"]
        {
            assert_eq!(ErrorCode::from_word(word).as_str(), word);
        }
        assert_eq!(ErrorCode::from_word("a-word-of-tomorrow"), ErrorCode::Internal);
    }
}
