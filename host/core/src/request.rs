//! HTTP requests of plugins: what an operator writes to grant them, what a
//! request comes to under it, and secrets that the host adds. Decides; sends
//! nothing.

mod pattern;
mod secret;
#[cfg(test)]
mod tests;

pub use pattern::{InvalidRequestPattern, RequestPattern};
pub use secret::{InvalidSecret, Secret, SecretRule, SecretText, Secrets};

use crate::{
    Code, Error,
    origin::{Origin, Server},
    text,
};

/// Methods that no grant reaches: one makes a tunnel, the other sends back
/// what a request said, secrets included.
const NEVER: [&str; 2] = ["CONNECT", "TRACE"];

/// What a plugin asks for, read once: what is checked is what is connected to
/// and what the server is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRequest {
    /// As it will be sent.
    pub(crate) method: String,
    /// Where the server is.
    pub server: Server,
    /// What is compared with grants.
    pub origin: Origin,
    /// Without its query; begins with a slash.
    pub(crate) path: String,
}

impl WantedRequest {
    /// Reads the parts of a request. `authority` is host and port; `path` has no
    /// query.
    ///
    /// # Errors
    /// `invalid` for what names no server; `denied` for methods that are never
    /// granted.
    pub fn read(method: &str, scheme: &str, authority: &str, path: &str) -> Result<Self, Error> {
        let invalid = |message: &str| Error::new(Code::Invalid, message);
        if NEVER.contains(&method.to_ascii_uppercase().as_str()) {
            let message = format!("requests with the method {} are not sent for plugins", text::line(method, 16));
            return Err(Error::new(Code::Denied, message));
        }
        if !matches!(scheme, "http" | "https") {
            return Err(invalid("only `http` and `https` requests can be sent"));
        }
        if authority.is_empty() {
            return Err(invalid("the request names no server"));
        }
        // A URL would read these as the end of the name, or as a user's.
        if authority.contains(['@', '/', '\\', '?', '#']) {
            return Err(invalid("the server of a request is a host and a port, nothing else"));
        }
        let url = url::Url::parse(&format!("{scheme}://{authority}/")).map_err(|_| invalid("this names no server"))?;
        let (Some(origin), Some(server)) = (Origin::of(&url), Server::of(&url)) else {
            return Err(invalid("this names no server"));
        };
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { method: method.to_owned(), server, origin, path: path.to_owned() })
    }

    /// `GET https://example.com/path`, for a person and for the audit. The path may be
    /// anything that a plugin writes.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { method, origin, path, .. } = self;
        format!("{method} {origin}{path}")
    }

    /// The pattern that grants this and nothing else, where it can be written
    /// without a character that means more.
    pub(crate) fn exact_pattern(&self) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.~-%".contains(&byte);
        let told = self.told();
        let written = self.method.bytes().all(|byte| byte.is_ascii_uppercase()) && self.path.bytes().all(plain);
        (written && told.len() <= 300 && told.parse::<RequestPattern>().is_ok_and(|pattern| pattern.matches(self)))
            .then_some(told)
    }
}
