//! What every interface shares: why a call failed.

use crate::words::words;

words! {
    /// What went wrong, in a word. More may come: take another word for
    /// [`ErrorCode::Internal`], as [`ErrorCode::from_word`] does.
    ErrorCode, "error code" {
        /// The operator has not granted it. Never retryable.
        Denied = "denied";
        /// An argument is malformed, out of its range or makes no sense here.
        Invalid = "invalid";
        /// There is no such thing, or it belongs to somebody else.
        NotFound = "not-found";
        /// Something changed since it was read, or stands in the way.
        Conflict = "conflict";
        /// A limit or quota is reached.
        Limit = "limit";
        /// The wait ended first. What was asked for may or may not have happened.
        Timeout = "timeout";
        /// It existed and does not any more.
        Gone = "gone";
        /// A service that is needed does not answer now.
        Unavailable = "unavailable";
        /// A defect of the host or of the tool.
        Internal = "internal";
    }
}

impl ErrorCode {
    /// The code for a word. Words of a later contract count as
    /// [`ErrorCode::Internal`].
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self::find(word).unwrap_or(Self::Internal)
    }
}
