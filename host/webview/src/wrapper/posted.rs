//! For backends that can evaluate, but neither await nor hear what comes of it: the
//! page posts its result by itself.

use serde::{Deserialize, Serialize};

use crate::{Injection, Token};

/// What a page posts by the sources of [`Injection::posting`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedResult {
    /// The right to settle, as the page shows it. It may be forged: the core checks
    /// it.
    pub token: Token,
    /// What is told as [`crate::Settled::Envelope`].
    pub envelope: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    token: String,
    envelope: String,
}

impl PostedResult {
    /// Reads a message that a page posted. Nothing where it is none of ours: a page
    /// can post what it likes.
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
