//! Why an index could not do what it was asked.

use wharf_sdk::ToolError;

/// Why an index could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The store failed, or the plugin's own part of a change did.
    #[error(transparent)]
    Store(#[from] ToolError),
    /// An entry of the index is not what this crate writes.
    #[error("the search index is damaged: entry `{key}`: {problem}")]
    Corrupt {
        /// Key of the entry.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The index was written by a later version of this crate.
    #[error("the search index has format {found}, and this plugin knows {known}: update the plugin")]
    TooNew {
        /// What was found.
        found: u64,
        /// The latest format that is known here.
        known: u64,
    },
    /// The index was made with other settings of [`crate::Analysis`], so its
    /// words would not be found.
    #[error("the search index was made with other settings of its words: index the documents anew")]
    OtherAnalysis,
    /// A setting makes no sense.
    #[error("{0}")]
    InvalidSettings(&'static str),
    /// A change is more than one atomic step can take.
    #[error("{what} at once: {size}, and at most {limit} fit one step; do it in several")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much of it.
        size: usize,
        /// How much of it fits.
        limit: usize,
    },
    /// A query names nothing to look for.
    #[error("the query has no word to look for; give at least one word or \"phrase\" that is not excluded")]
    EmptyQuery,
    /// Others changed the index during every attempt.
    #[error("others changed the search index during each of {attempts} attempts; try again")]
    Contended {
        /// How often it was tried.
        attempts: u32,
    },
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        let message = error.to_string();
        match error {
            SearchError::Store(error) => error,
            SearchError::Corrupt { .. } | SearchError::InvalidSettings(_) => Self::internal(message),
            SearchError::TooNew { .. } | SearchError::OtherAnalysis => {
                Self { retryable: false, ..Self::unavailable(message) }
            }
            SearchError::TooLarge { .. } => Self::limit(message),
            SearchError::EmptyQuery => Self::invalid(message),
            SearchError::Contended { .. } => Self::conflict(message),
        }
    }
}
