//! Entries of the logs of a page, as `entries` tells them. Their texts are words of the
//! page and of servers, which the host cuts and cleans.

use serde::{Deserialize, Serialize};

use super::AnyDialogKind;
use crate::words::words;

words! {
    /// What an entry of the log `console` is. Take another word for
    /// [`ConsoleKind::Log`].
    ConsoleKind, open AnyConsoleKind, "kind" {
        /// A message.
        Log = "log";
        /// A message that informs.
        Info = "info";
        /// A message that warns.
        Warning = "warning";
        /// A message of what failed.
        Error = "error";
        /// What a script threw, and nothing caught.
        Exception = "exception";
        /// A dialog has closed.
        Dialog = "dialog";
        /// The page wanted to open a window.
        Popup = "popup";
        /// The page crashed.
        Crash = "crash";
    }
}

impl Default for AnyConsoleKind {
    /// Nothing is said of it.
    fn default() -> Self {
        Self::Other(String::new())
    }
}

words! {
    /// How a dialog was answered. More may come.
    DialogOutcome, open AnyDialogOutcome, "answer" {
        /// With yes.
        Accepted = "accepted";
        /// With no.
        Dismissed = "dismissed";
    }
}

words! {
    /// How a download ended. Take another word for [`DownloadState::Failed`].
    DownloadState, open AnyDownloadState, "state" {
        /// It is in the workspace.
        Done = "done";
        /// It is nowhere.
        Failed = "failed";
    }
}

impl Default for AnyDownloadState {
    /// Nothing is said of it.
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// An entry with its place in the log. The members of the entry stand beside these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedEntry<E> {
    /// 1 for the first of the page in this log, then one more each.
    #[serde(default)]
    pub number: u64,
    /// When the host heard of it: RFC 3339 in UTC.
    #[serde(default)]
    pub time: String,
    /// A [`ConsoleLogEntry`], a [`NetworkLogEntry`] or a [`DownloadLogEntry`].
    #[serde(flatten)]
    pub entry: E,
}

/// An entry of the log `console`: what the page said, or what happened to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsoleLogEntry {
    /// What it is.
    pub kind: AnyConsoleKind,
    /// What it says; of a dialog, what that said.
    pub text: String,
    /// Where it comes from; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The line there, from 1; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What the dialog was; absent where it is about none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<AnyDialogKind>,
    /// How the dialog was answered; absent where it is about none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnyDialogOutcome>,
}

/// An entry of the log `network`: a request of the page that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkLogEntry {
    /// Such as `GET`.
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What for, such as `document`, `script`, `image`, `fetch` or `websocket`.
    pub kind: String,
    /// The status of HTTP; absent where there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What came, such as `text/html`; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// How much came; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long it took; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
    /// Why it failed, in words; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether the policy of the host forbade it; `false` where absent.
    #[serde(skip_serializing_if = "crate::is_false")]
    pub denied: bool,
}

/// An entry of the log `downloads`: one that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DownloadLogEntry {
    /// Where it came from.
    pub url: String,
    /// What the page calls it.
    pub name: String,
    /// The file of the workspace; absent where it is in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How much came.
    pub bytes: u64,
    /// How it ended.
    pub state: AnyDownloadState,
    /// Why it failed, in words; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
