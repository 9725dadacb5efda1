//! What the host says of a web page, and of what was asked of one.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolError;
use crate::words::words;

words! {
    /// How a page is. Treat another word as [`PageStatus::Ready`].
    PageStatus {
        /// It is being opened.
        Opening = "opening";
        /// It can be used.
        Ready = "ready";
        /// It navigates.
        Loading = "loading";
        /// It crashed, and can be used again once it is navigated or reloaded.
        Crashed = "crashed";
        /// It is closed for good.
        Closed = "closed";
    }
}

words! {
    /// How a request is.
    RequestState {
        /// It has not ended.
        Pending = "pending";
        /// It has, with a result.
        Done = "done";
        /// It has, without one.
        Failed = "failed";
        /// It had ended, and what came of it is not kept any more.
        Expired = "expired";
        /// This owner never made it, or that is forgotten.
        Unknown = "unknown";
    }
}

words! {
    /// Why a request failed. Treat another word as [`FailureKind::Exception`].
    FailureKind {
        /// The script threw.
        Exception = "exception";
        /// The script cannot be parsed; nothing of it ran.
        Syntax = "syntax";
        /// The page went elsewhere meanwhile.
        Navigated = "navigated";
        /// The page crashed.
        Crashed = "crashed";
        /// A dialog has to be answered first.
        DialogOpen = "dialog-open";
        /// The deadline passed.
        TimeOut = "time-out";
        /// Somebody cancelled it, or closed the page.
        Cancelled = "cancelled";
        /// The origin is not granted, or the page may not do that.
        Denied = "denied";
        /// The result cannot be JSON.
        Unserialisable = "unserialisable";
        /// The browser ended.
        BackendGone = "backend-gone";
        /// This backend cannot do it.
        Unsupported = "unsupported";
        /// The server was not reached, or broke off.
        Network = "network";
        /// It makes no sense on this page.
        Invalid = "invalid";
        /// The result is larger than it may be.
        Limit = "limit";
    }
}

words! {
    /// What a dialog is.
    DialogKind {
        /// Says something.
        Alert = "alert";
        /// Asks for yes or no.
        Confirm = "confirm";
        /// Asks for a text.
        Prompt = "prompt";
        /// Asks whether to leave the page.
        BeforeUnload = "beforeunload";
    }
}

/// What holds for the pages of this plugin here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// The granted patterns of origins.
    pub origins: Vec<String>,
    /// How many pages an owner may have.
    pub maximum_pages: u64,
    /// Whether downloads go to the workspace.
    pub downloads: bool,
    /// Whether files of the workspace may be given to pages.
    pub uploads: bool,
    /// Whether private addresses are reached.
    pub private_addresses: bool,
    /// What drives the pages, such as `chromium`.
    pub backend: String,
    /// What [`super::WebPages::perform`] can do here.
    pub operations: Vec<String>,
    /// Whether scripts can be run apart from those of the page.
    pub isolated_world: bool,
    /// Whether pages run in the browser's own sandbox.
    pub sandbox: bool,
    /// After how long without use a page is closed.
    pub idle_seconds: u64,
    /// The deadline of a request that names none.
    pub request_milliseconds: u64,
    /// The longest deadline.
    pub maximum_request_milliseconds: u64,
}

impl Rules {
    /// Whether an operation of this name can be performed here.
    #[must_use]
    pub fn performs(&self, operation: &str) -> bool {
        self.operations.iter().any(|name| name == operation)
    }
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// What it is.
    pub kind: DialogKind,
    /// What it says: words of the page, cut to 4 KiB.
    pub message: String,
    /// What the field of a prompt holds.
    pub default_text: String,
    /// How long it has been open.
    pub open: Duration,
}

/// A page as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageInfo {
    /// Its handle: an unguessable string.
    pub id: String,
    /// How it is.
    pub status: PageStatus,
    /// Where it is, cut to 4 KiB.
    pub url: String,
    /// Its title, cut to 1 KiB.
    pub title: String,
    /// Width of what is seen, in CSS pixels.
    pub width: u32,
    /// Height of what is seen, in CSS pixels.
    pub height: u32,
    /// The dialog that waits for an answer.
    pub dialog: Option<Dialog>,
    /// Requests that are pending.
    pub pending: u32,
    /// When it was opened: RFC 3339 in UTC.
    pub opened: String,
    /// When somebody last used it.
    pub last_used: String,
    /// Why it is closed: `owner`, `idle`, `evicted`, `crashes`, `operator`,
    /// `shutting-down`, `backend-gone`.
    pub closed_because: Option<String>,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

impl PageInfo {
    /// Whether it is closed for good.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.status == PageStatus::Closed
    }
}

/// What came of a request, so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the request is.
    pub state: RequestState,
    /// Since it was made; of one that has ended, until it ended.
    pub elapsed: Duration,
    /// Why it failed, where it did.
    pub kind: Option<FailureKind>,
    /// Why it failed, for a person or a model.
    pub message: String,
    /// What the data is: `application/json` of a script.
    pub mime_type: String,
    /// The result, or its beginning.
    pub data: Vec<u8>,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// Whether the data is not all of it.
    pub truncated: bool,
    /// The dialog of the page, where one waits for an answer now.
    pub dialog: Option<Dialog>,
    /// What to do instead of polling so often.
    pub advice: Option<String>,
    /// Further fields: the text of a JSON object.
    pub meta: Option<String>,
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPiece {
    /// The byte at which it begins.
    pub start: u64,
    /// The byte to go on from.
    pub next: u64,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// The piece; of text, no character is split.
    pub data: Vec<u8>,
}

/// Entries of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The entries, the oldest first; each an object with `number` and `time`.
    pub entries: Vec<Value>,
    /// The number to go on after.
    pub next: u64,
    /// How many entries after the number asked for are not kept any more.
    pub lost: u64,
}

/// What an operation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// What the data is, such as `image/png`.
    pub mime_type: String,
    /// The result itself.
    pub data: Vec<u8>,
}

impl Finished {
    /// The result, where it is JSON.
    ///
    /// # Errors
    /// `internal` where it is not.
    pub fn json(&self) -> Result<Value, ToolError> {
        Ok(serde_json::from_slice(&self.data)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_itself_and_a_word_of_tomorrow_stays_readable() {
        for word in ["opening", "ready", "loading", "crashed", "closed", "asleep"] {
            assert_eq!(PageStatus::from(word.to_owned()).as_str(), word);
        }
        assert_eq!(FailureKind::from("time-out".to_owned()), FailureKind::TimeOut);
        assert_eq!(RequestState::from("expired".to_owned()), RequestState::Expired);
        assert_eq!(DialogKind::from("passkey".to_owned()).to_string(), "passkey");
    }
}
