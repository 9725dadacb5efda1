//! Errors of web pages, and the error that a guest gets for each.

use std::io;

use wharf_core::{Code, Error, QuotaFull, text::with_causes};

/// Why a call on a page failed. Unless said otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebViewError {
    /// There is no such page, or it belongs to somebody else. Where its id names another
    /// host, it is [`WebViewError::HostEnded`] instead.
    #[error("there is no such page here")]
    NoPage,
    /// There is no such request, or it belongs to somebody else. Where its id names
    /// another host, it is [`WebViewError::HostEnded`] instead.
    #[error("there is no such request here")]
    NoRequest,
    /// There is no such page or request, and its id names another host.
    #[error("the host that held this {what} has ended, and the {what} with it; open another page")]
    HostEnded {
        /// What is gone: `page` or `request`.
        what: &'static str,
    },
    /// The request makes no sense.
    #[error("{problem}")]
    Invalid {
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// It asks for what was not granted.
    #[error("{}", source.message)]
    Refused {
        /// In the words of the grant.
        source: Error,
    },
    /// The owner has as many pages as it may.
    #[error("{limit} pages of yours are open, as many as you may have (`maximum_pages`); close one first")]
    TooManyPages {
        /// How many it may have.
        limit: u64,
    },
    /// Session, tenant or host have as many pages as they may, and none of the same
    /// tenant is idle.
    #[error("{full}; close a page of yours, or try again once one was unused for a minute")]
    Full {
        /// Which limit it is.
        full: QuotaFull,
    },
    /// Session, tenant or host keep as much for pages as they may, and nothing of the
    /// same tenant can be let go of.
    #[error("{full}; wait for requests, acknowledge results, or close pages of yours")]
    TooMuch {
        /// Which limit it is.
        full: QuotaFull,
    },
    /// All requests of the page are pending.
    #[error(
        "{limit} requests of this page are pending, as many as there may be (limit `requests_per_page`); wait for them, or cancel some"
    )]
    TooManyRequests {
        /// How many there may be.
        limit: u64,
    },
    /// The page is closed.
    #[error("this page is closed ({reason}); open another one")]
    Closed {
        /// Why, in a word.
        reason: &'static str,
    },
    /// What was asked for is not kept any more.
    #[error("{what} is not kept any more; run the script again")]
    Gone {
        /// Which part of it.
        what: &'static str,
    },
    /// It is not in a state for this.
    #[error("{problem}")]
    Conflict {
        /// Why, and what to do.
        problem: String,
    },
    /// There is no browser.
    #[error("{problem}")]
    Unavailable {
        /// Why, and what to do.
        problem: String,
        /// Whether it may be there later.
        retryable: bool,
    },
    /// The host is about to end.
    #[error("the host is shutting down and opens no more pages")]
    ShuttingDown,
    /// The system refused something.
    #[error("the host could not {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl WebViewError {
    /// A request that makes no sense.
    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::Invalid { problem: problem.into() }
    }

    /// The system has no randomness to give.
    pub(crate) fn no_randomness(source: io::Error) -> Self {
        Self::System { action: "make a handle that nobody can guess", source }
    }
}

impl From<WebViewError> for Error {
    fn from(error: WebViewError) -> Self {
        let message = with_causes(&error);
        match error {
            WebViewError::Refused { source } => source,
            WebViewError::NoPage | WebViewError::NoRequest => Self::new(Code::NotFound, message),
            WebViewError::Invalid { .. } => Self::new(Code::Invalid, message),
            WebViewError::TooManyPages { .. }
            | WebViewError::Full { .. }
            | WebViewError::TooMuch { .. }
            | WebViewError::TooManyRequests { .. } => Self::retryable(Code::Limit, message),
            WebViewError::HostEnded { .. } | WebViewError::Closed { .. } | WebViewError::Gone { .. } => {
                Self::new(Code::Gone, message)
            }
            WebViewError::Conflict { .. } => Self::new(Code::Conflict, message),
            WebViewError::Unavailable { retryable: false, .. } | WebViewError::ShuttingDown => {
                Self::new(Code::Unavailable, message)
            }
            WebViewError::Unavailable { retryable: true, .. } | WebViewError::System { .. } => {
                Self::retryable(Code::Unavailable, message)
            }
        }
    }
}
