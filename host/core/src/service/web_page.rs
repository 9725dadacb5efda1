//! What a transport serves beside tools: web pages, for clients that are not models.
//!
//! Plain data in both directions, so that the protocol's crate knows nothing of
//! the crate of web pages. A script is handed over and known by the id of its request;
//! its outcome is polled, so that nobody waits in the browser's way.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Context, Error};

/// A page to open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenWebPage {
    /// Width of what is seen, in CSS pixels, 4096 at most; 1280 where absent.
    pub width: Option<u32>,
    /// Height of what is seen, in CSS pixels, 4096 at most; 800 where absent.
    pub height: Option<u32>,
    /// What becomes of dialogs: `report` (they wait for an answer), `accept` or
    /// `dismiss`; `report` where absent.
    pub dialogs: Option<String>,
    /// What `navigator.language` says, such as `ko-KR`.
    pub locale: Option<String>,
    /// The time zone, such as `Asia/Seoul`.
    pub time_zone: Option<String>,
    /// What the page says that it is.
    pub user_agent: Option<String>,
}

/// A script to run in a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteScript {
    /// An expression, or statements of which the last one or `return` gives the
    /// result; promises are awaited. At most 1 MiB.
    pub script: String,
    /// `page`, or `isolated` to run apart from the scripts of the page.
    pub world: Option<String>,
    /// The id of a frame, as the operation `frames` tells; the page itself where
    /// absent.
    pub frame: Option<String>,
    /// How long it may take, in milliseconds, up to `request_ceiling_milliseconds`;
    /// `request_milliseconds` where absent.
    pub timeout_ms: Option<u64>,
    /// How many bytes of the result are sent from the page at most, up to
    /// `result_bytes`; the rest can be read while the page shows the same document.
    pub max_bytes: Option<u32>,
}

/// Something else to do with a page.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerformOperation {
    /// `navigate`, `back`, `forward`, `reload`, `screenshot`, `pdf`, `mouse`, `key`,
    /// `text`, `set-files`, `resize`, `network-idle`, `frames` or `stop`.
    pub operation: String,
    /// What it needs, such as `{"url": "https://example.com"}`.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// How long it may take, in milliseconds, up to `request_ceiling_milliseconds`;
    /// `request_milliseconds` where absent.
    pub timeout_ms: Option<u64>,
}

/// An answer to the dialog of a page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerDialog {
    /// Yes, or no.
    pub accept: bool,
    /// What is typed into a `prompt`; at most 4 KiB.
    pub text: Option<String>,
}

/// What of a result to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadResult {
    /// The first byte.
    pub from: u64,
    /// How many at most.
    pub maximum_bytes: usize,
    /// How long the page may take to send what it has kept.
    pub patience: Duration,
}

/// What of a log to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLog {
    /// `console`, `network` or `downloads`.
    pub log: String,
    /// The number behind which to read.
    pub after: u64,
    /// How many entries at most.
    pub maximum_entries: usize,
}

/// A page as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebPageDescription {
    /// Its handle.
    pub page: String,
    /// `opening`, `ready`, `loading`, `crashed`, `closed`; there may be more.
    pub status: String,
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub title: String,
    /// Width of what is seen.
    pub width: u32,
    /// Height of what is seen.
    pub height: u32,
    /// The dialog that waits for an answer.
    pub dialog: Option<PageDialog>,
    /// How many requests are pending.
    pub pending: u64,
    /// When it was opened, RFC 3339.
    pub opened: String,
    /// When somebody last used it, RFC 3339.
    pub last_used: String,
    /// Why it is closed: `owner`, `idle`, `evicted`, `operator`, `shutting-down`,
    /// `backend-gone`; there may be more.
    pub closed_because: Option<String>,
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageDialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// What it says.
    pub message: String,
    /// What the field of a `prompt` holds.
    pub default_text: String,
    /// How long it has been open, in milliseconds.
    pub open_ms: u64,
}

/// A request that was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageRequest {
    /// Its handle: its outcome is polled by that.
    pub request: String,
}

/// A request of a page that is pending, or whose result is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageRequestDescription {
    /// Its handle.
    pub request: String,
    /// What it does: `script`, or the name of the operation.
    pub kind: String,
    /// `pending`, `done` or `failed`.
    pub state: String,
    /// Since it was made, in milliseconds; of one that has ended, until it ended.
    pub elapsed_ms: u64,
    /// How many bytes its whole result has.
    pub bytes: u64,
    /// Why it failed, in a word.
    pub failure: Option<String>,
}

/// The outcome of a request so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageOutcome {
    /// `pending`, `done`, `failed`, or `expired`: it ended, and the result is
    /// not kept any more.
    pub state: String,
    /// Since it was made, in milliseconds; of one that has ended, until it ended.
    pub elapsed_ms: u64,
    /// Why it failed.
    pub failure: Option<PageFailure>,
    /// What the result is.
    pub mime_type: Option<String>,
    /// The result, or its beginning; that of a script is JSON.
    pub text: Option<String>,
    /// The same of what is no text, as Base64.
    pub base64: Option<String>,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// How many of them are told here.
    pub sent_bytes: u64,
    /// Whether there is more: read on from `sent_bytes`.
    pub truncated: bool,
    /// The dialog that keeps the page.
    pub dialog: Option<PageDialog>,
    /// What to do instead of polling so often.
    pub advice: Option<String>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageFailure {
    /// `exception`, `syntax`, `time-out`, `cancelled`, `navigated`, `crashed`,
    /// `denied`, `limit`; there are more.
    pub kind: String,
    /// What happened.
    pub message: String,
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageResultPiece {
    /// The byte at which it begins: later than asked for where a character would be
    /// split.
    pub from: u64,
    /// The byte to go on from.
    pub next: u64,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// The piece, where the result is a text.
    pub text: Option<String>,
    /// The piece, where it is none, as Base64.
    pub base64: Option<String>,
}

/// Entries of a log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PageLog {
    /// The oldest first, each with `number` and `time`.
    pub entries: Vec<Value>,
    /// The number to go on after.
    pub next: u64,
    /// How many entries behind the number asked for are not kept any more.
    pub lost: u64,
}

/// Web pages on behalf of contexts. One of another owner is `not-found`, and so is a
/// request of another page.
#[async_trait::async_trait]
pub trait WebPageService: Send + Sync + 'static {
    /// Opens a page, empty at first. What is asked of it before it is open waits for
    /// that.
    ///
    /// # Errors
    /// `denied` where pages are not granted, `limit` where there are too many,
    /// `invalid` for a request that makes no sense, `unavailable` without a browser.
    async fn open(&self, context: &Context, request: OpenWebPage) -> Result<WebPageDescription, Error>;

    /// The pages of this owner, closed ones that are remembered included.
    ///
    /// # Errors
    /// `denied`, `unavailable`.
    async fn list(&self, context: &Context) -> Result<Vec<WebPageDescription>, Error>;

    /// One page. This counts as no use of it.
    ///
    /// # Errors
    /// `not-found`.
    async fn info(&self, context: &Context, page: &str) -> Result<WebPageDescription, Error>;

    /// Closes a page; its pending requests fail with `cancelled`. Returns at the
    /// latest after `patience`.
    ///
    /// # Errors
    /// `not-found`.
    async fn close(&self, context: &Context, page: &str, patience: Duration) -> Result<WebPageDescription, Error>;

    /// Hands over a script, without waiting for it.
    ///
    /// # Errors
    /// `not-found`; `gone` where the page is closed; `limit` where too much is
    /// pending; `invalid`.
    async fn execute(&self, context: &Context, page: &str, request: ExecuteScript) -> Result<PageRequest, Error>;

    /// Hands over an operation, without waiting for it.
    ///
    /// # Errors
    /// As for a script; `denied` for an address or a file that is not granted.
    async fn perform(&self, context: &Context, page: &str, request: PerformOperation) -> Result<PageRequest, Error>;

    /// The requests of a page that are pending or whose results are kept, the newest
    /// first.
    ///
    /// # Errors
    /// `not-found`.
    async fn requests(&self, context: &Context, page: &str) -> Result<Vec<PageRequestDescription>, Error>;

    /// The outcome of a request, with at most so many bytes of its result. Waits until
    /// it has ended, a dialog waits for an answer, or `patience` is over. Asking again
    /// gives the same answer for as long as the result is kept.
    ///
    /// # Errors
    /// `not-found`.
    async fn poll(
        &self,
        context: &Context,
        page: &str,
        request: &str,
        maximum_bytes: usize,
        patience: Duration,
    ) -> Result<PageOutcome, Error>;

    /// A piece of the result of a request.
    ///
    /// # Errors
    /// `not-found`; `conflict` where it has no result, or a dialog keeps the page;
    /// `gone` where that is not kept any more; `unavailable` where the page does not
    /// answer.
    async fn read_result(
        &self,
        context: &Context,
        page: &str,
        request: &str,
        read: ReadResult,
    ) -> Result<PageResultPiece, Error>;

    /// Ends a request that is pending; one that has ended is as it was.
    ///
    /// # Errors
    /// `not-found`.
    async fn cancel(&self, context: &Context, page: &str, request: &str) -> Result<(), Error>;

    /// Lets go of the result of a request that has ended; one that is pending is as it
    /// was.
    ///
    /// # Errors
    /// `not-found`.
    async fn acknowledge(&self, context: &Context, page: &str, request: &str) -> Result<(), Error>;

    /// Answers the dialog that waits.
    ///
    /// # Errors
    /// `not-found`; `conflict` where none waits; `invalid`.
    async fn answer_dialog(&self, context: &Context, page: &str, answer: AnswerDialog) -> Result<(), Error>;

    /// Entries of a log.
    ///
    /// # Errors
    /// `not-found`; `invalid` for a log that there is not.
    async fn log(&self, context: &Context, page: &str, read: ReadLog) -> Result<PageLog, Error>;
}
