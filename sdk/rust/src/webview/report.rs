//! What the host says of a web page, and of what was asked of one.

use std::time::Duration;

use serde_json::Value;
pub use wharf_contract::webview::WebViewRules;
pub use wharf_contract::webview::{
    AnyDialogKind as DialogKind, AnyFailureKind as FailureKind, AnyPageStatus as PageStatus,
    AnyRequestState as RequestState,
};

use crate::ToolError;

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

/// The outcome of a request, so far.
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

/// The result of an operation.
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
