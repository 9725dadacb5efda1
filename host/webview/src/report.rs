//! What a backend reports: what came of a request, and what happens in a page.
//! All of it may come from a hostile page: the core bounds and cleans it.

use std::path::PathBuf;

use serde_json::{Map, Value};
pub use wharf_contract::webview::{DialogKind, FailureKind};

/// What came of an injection or an order.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// What the promise of an [`crate::Injection`] came to.
    Envelope(String),
    /// None of its sources can be parsed.
    Syntax {
        /// What the engine says of the last one.
        message: String,
    },
    /// What an order came to.
    Done(Finished),
    /// It failed.
    Failed(Failure),
}

/// The result of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What it is, such as `image/png`.
    pub mime_type: &'static str,
    /// The result itself.
    pub data: Vec<u8>,
}

impl Finished {
    /// A result of JSON.
    #[must_use]
    pub fn json(value: &Map<String, Value>) -> Self {
        let data = serde_json::to_vec(value).unwrap_or_default();
        Self { mime_type: "application/json", data }
    }
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In a word.
    pub kind: FailureKind,
    /// For a person or a model; what to do, where that is not plain.
    pub message: String,
}

impl Failure {
    /// Of this kind.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Something that happened in a page.
#[derive(Debug, Clone, PartialEq)]
pub enum PageEvent {
    /// It takes scripts.
    Opened,
    /// It leaves its document for another one: scripts that are pending fail.
    Navigating,
    /// Where it is now, and what it is called. Also where it moved within a
    /// document, which fails nothing.
    Located {
        /// Its address.
        url: String,
        /// Its title.
        title: String,
    },
    /// It loads, or has loaded.
    Loading(bool),
    /// A dialog opened, and nothing runs in the page until it is answered.
    DialogOpened(DialogOpened),
    /// It is answered, by whomever.
    DialogClosed {
        /// Yes, or no.
        accepted: bool,
    },
    /// For the log `console`.
    Console(Console),
    /// For the log `network`.
    Network(Network),
    /// For the log `downloads`: one has ended.
    Download(Download),
    /// It crashed: what is pending fails, and nothing runs until it is navigated.
    Crashed,
    /// Nothing is left of it.
    Closed {
        /// Why, where nobody asked for it; the browser ended, say.
        unasked: Option<String>,
    },
}

/// A dialog that opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogOpened {
    /// What it is.
    pub kind: DialogKind,
    /// What it says.
    pub message: String,
    /// What its field holds.
    pub default_text: String,
}

/// An entry of the log `console`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Console {
    /// `log`, `info`, `warning`, `error`, `exception`, `popup` or `crash`.
    pub kind: &'static str,
    /// What it says.
    pub text: String,
    /// Where it comes from.
    pub url: Option<String>,
    /// The line there, from 1.
    pub line: Option<u64>,
}

/// An entry of the log `network`: a request of the page that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Such as `GET`.
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What for: `document`, `script`, `image`, `fetch`, `websocket` and so on.
    pub kind: String,
    /// The status of HTTP.
    pub status: Option<u16>,
    /// What came.
    pub mime_type: Option<String>,
    /// How much came.
    pub bytes: Option<u64>,
    /// How long it took.
    pub milliseconds: Option<u64>,
    /// Why it failed.
    pub failure: Option<String>,
    /// The policy forbade it.
    pub denied: bool,
}

/// A download that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Where it came from.
    pub url: String,
    /// What the page calls it; not to be trusted.
    pub name: String,
    /// How much came.
    pub bytes: u64,
    /// Where the backend has put it, for the core to move away; or why it failed.
    pub staged: Result<PathBuf, String>,
}
