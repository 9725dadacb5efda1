//! Reports of a backend: results of requests, and events of a page. All of it may come
//! from a hostile page: the core bounds and cleans it.

use std::path::PathBuf;

use serde::Serialize;
pub use wharf_contract::webview::{ConsoleKind, DialogKind, FailureKind, FrameInfo, FramesResult, NavigationResult};

/// The result of an injection or an order.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The value of an injection's promise.
    Envelope(String),
    /// The engine can parse none of its sources.
    Syntax {
        /// The engine's message about the last one.
        message: String,
    },
    /// The output of an order.
    Done(OrderOutput),
    /// It failed.
    Failed(Failure),
}

/// The output of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderOutput {
    /// Its media type, such as `image/png`.
    pub mime_type: &'static str,
    /// The output itself.
    pub data: Vec<u8>,
}

impl OrderOutput {
    /// An output of JSON: what the contract says of the operation, such as a
    /// [`NavigationResult`]. Without any members it is an empty object.
    #[must_use]
    pub fn json(result: &impl Serialize) -> Self {
        // By way of a value, which sorts the members.
        let data = serde_json::to_value(result).and_then(|result| serde_json::to_vec(&result)).unwrap_or_default();
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
    /// It has this address and title now. Also after a move within its document, which
    /// fails no request.
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
    /// The dialog is closed.
    DialogClosed {
        /// Yes, or no.
        accepted: bool,
    },
    /// For the log `console`.
    Console(ConsoleEntry),
    /// For the log `network`.
    Network(NetworkEntry),
    /// For the log `downloads`: one has ended.
    Download(Download),
    /// It crashed: what is pending fails, and nothing runs until it is navigated.
    Crashed,
    /// Nothing is left of it.
    Closed {
        /// The reason, where the core did not ask for it: the browser ended, say.
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
pub struct ConsoleEntry {
    /// What it is; dialogs are told apart, as [`PageEvent::DialogOpened`].
    pub kind: ConsoleKind,
    /// What it says.
    pub text: String,
    /// Where it comes from.
    pub url: Option<String>,
    /// The line there, from 1.
    pub line: Option<u64>,
}

/// An entry of the log `network`: a request of the page that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkEntry {
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

/// Why a download failed, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FailedDownload(pub String);

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
    pub staged: Result<PathBuf, FailedDownload>,
}
