//! Results for backends that can evaluate a script, but neither await it nor read its
//! value: the page posts the result by itself.

use serde::{Deserialize, Serialize};

use crate::{Injection, Token};

/// A result that a page posts by the sources of [`Injection::posting`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedResult {
    /// The right to settle, as the page shows it. It may be forged: the core checks
    /// it.
    pub token: Token,
    /// The content of [`crate::Settled::Envelope`].
    pub envelope: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    token: String,
    envelope: String,
}

impl PostedResult {
    /// Reads a message that a page posted. None where it has another form: a page can
    /// post anything.
    #[must_use]
    pub fn read(message: &str) -> Option<Self> {
        let Message { token, envelope } = serde_json::from_str(message).ok()?;
        Some(Self { token: token.parse().ok()?, envelope })
    }
}

impl Injection {
    /// The sources, each with a message behind it: once its promise has come to an
    /// envelope, it calls `post`, such as `window.ipc.postMessage`, with a text for
    /// [`PostedResult::read`].
    #[must_use]
    pub fn posting(&self, post: &str) -> Vec<String> {
        let posting = |source: &String| {
            format!("({source}\n).then(envelope => {post}(JSON.stringify({{ token: \"{}\", envelope }})))", self.token)
        };
        self.sources.iter().map(posting).collect()
    }
}
