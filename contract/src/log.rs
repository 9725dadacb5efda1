//! How much a line matters.

use crate::words::words;

words! {
    /// The level of a line of the log, and of a message to the caller; the
    /// least first. Another word counts as [`Level::Info`].
    Level, "level" {
        /// For those who follow every step.
        Trace = "trace";
        /// For those who look for a defect.
        Debug = "debug";
        /// What happened.
        Info = "info";
        /// What should not have happened, and did no harm.
        Warn = "warn";
        /// What failed.
        Error = "error";
    }
}

impl Level {
    /// The level that a word counts as.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self::find(word).unwrap_or(Self::Info)
    }
}
