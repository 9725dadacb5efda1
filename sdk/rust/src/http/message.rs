//! An HTTP request and its answer, as a tool writes and reads them. Knows nothing
//! of how they are sent.

use crate::ToolError;

/// Bytes of an answer's body that are read where a request says nothing else.
const MAX_BODY_BYTES: usize = 4 << 20;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Where it goes, with its scheme: `https://api.example.com/v1/issues?state=open`.
    pub url: String,
    /// Names and values. The host itself names the server and the length of the body.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Vec<u8>,
    /// Bytes of the answer's body that are read; more are an error.
    pub max_body_bytes: usize,
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// 200 and so on.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// What came.
    pub body: Vec<u8>,
}

impl Request {
    /// A request with this method, without headers and body.
    #[must_use]
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            max_body_bytes: MAX_BODY_BYTES,
        }
    }

    /// A `GET` request for this address.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With this body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Scheme, authority and path with query.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn target(&self) -> Result<(&str, &str, String), ToolError> {
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return Err(ToolError::invalid("write the address with its scheme, as in https://example.com/"));
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok((scheme, authority, path))
    }
}

impl Response {
    /// The first header of this name, written in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    ///
    /// # Errors
    /// `unavailable` where it is none.
    pub fn text(&self) -> Result<&str, ToolError> {
        std::str::from_utf8(&self.body).map_err(|_| ToolError::unavailable("the server answered what is no text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    #[test]
    fn an_address_is_taken_apart_as_it_is_written() {
        for (url, scheme, authority, path) in [
            ("https://example.com", "https", "example.com", "/"),
            ("https://example.com:8443/a/b?c=d#e", "https", "example.com:8443", "/a/b?c=d"),
            ("http://[::1]?q=/", "http", "[::1]", "/?q=/"),
        ] {
            let request = Request::get(url);
            assert_eq!(request.target(), Ok((scheme, authority, path.to_owned())), "{url}");
        }
        assert_eq!(Request::get("example.com").target().expect_err("no scheme").code, ErrorCode::Invalid);
    }
}
