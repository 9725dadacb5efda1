//! [`Http`]: HTTP requests, as a tool sends them.
//!
//! The operator grants them by method, origin and path; the host resolves, checks
//! and sends. Redirects are answers: to follow one is another request. Secrets of the
//! operator are added by the host, and are not for a tool to see.

pub(crate) mod message;

use crate::host::{ActiveHost, HostHttp};
use crate::{Call, ToolError};

pub use message::{Request, Response};

/// The way to servers. Get it from [`Call::http`].
#[derive(Debug, Clone, Copy)]
pub struct Http<'call> {
    host: &'call ActiveHost,
}

impl Call {
    /// The way to servers.
    #[must_use]
    pub fn http(&self) -> Http<'_> {
        Http { host: &self.host }
    }
}

impl Http<'_> {
    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it; `invalid` for
    /// what is no request; `limit` and `timeout`, naming the limit; `unavailable`
    /// where the server is not reached or breaks off. A status is no error.
    pub fn send(&self, request: &Request) -> Result<Response, ToolError> {
        self.host.send(request)
    }

    /// Gets what is at an address.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub fn get(&self, url: &str) -> Result<Response, ToolError> {
        self.send(&Request::get(url))
    }
}

/// The error that the host's words stand for: `CODE: what happened`.
#[cfg(any(target_family = "wasm", test))]
pub(crate) fn error(words: &str) -> ToolError {
    let Some((code, message)) = words.split_once(": ") else {
        return ToolError::unavailable(words);
    };
    let code = crate::ErrorCode::from_word(code);
    let retryable = matches!(code, crate::ErrorCode::Timeout | crate::ErrorCode::Unavailable);
    ToolError { code, message: message.to_owned(), retryable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    #[test]
    fn the_words_of_the_host_become_an_error_with_its_code() {
        let denied = error("denied: plugin `p` may not send GET https://example.com/; to allow it, add …");
        assert_eq!((denied.code, denied.retryable), (ErrorCode::Denied, false));
        assert!(denied.message.starts_with("plugin `p` may not"), "{denied}");
        assert_eq!(error("timeout: late").code, ErrorCode::Timeout);
        assert_eq!(error("ConnectionReset").code, ErrorCode::Unavailable);
    }
}
