//! The handles of pages and requests, and the right to settle a request.

use std::{fmt, io, str::FromStr};

use wharf_core::handle::{Handle, NoHandle};

use crate::WebViewError;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $absent:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) Handle);

        impl $name {
            /// A new one that nobody can guess.
            ///
            /// # Errors
            /// Where the system has no randomness to give.
            pub fn random() -> io::Result<Self> {
                Handle::random().map(Self)
            }
        }

        impl FromStr for $name {
            type Err = WebViewError;

            /// A text of another form names nothing.
            fn from_str(raw: &str) -> Result<Self, WebViewError> {
                raw.parse().map(Self).map_err(|_: NoHandle| WebViewError::$absent)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

id!(
    /// The handle of a page.
    PageId,
    NoPage
);
id!(
    /// The handle of a request: what its caller polls by.
    RequestId,
    NoRequest
);
id!(
    /// The right to settle one request of one page, once. Only the backend has it,
    /// never the caller who polls.
    Token,
    NoRequest
);
