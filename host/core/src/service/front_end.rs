//! What a transport serves to front ends: pages and windows of an app whose own
//! functions are tools, for as long as they are connected.
//!
//! Plain data in both directions, so that the transport knows nothing of how the calls
//! are kept.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AssistantId, Error, SessionId, TenantId, ThreadId};

/// The client that has connected a front end. No other client finds it; its tools are
/// there for the whole tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrontEndOwner {
    /// Whose calls it serves.
    pub tenant: TenantId,
    /// What tells the clients of one tenant apart, such as the name of a token.
    pub client: String,
}

/// A front end that connects.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectFrontEnd {
    /// 1 to 32 characters of `[a-z0-9-]`: its tools are listed as
    /// `app_NAME__TOOL`.
    pub name: String,
    /// What it serves.
    pub tools: Vec<FrontEndTool>,
    /// Whether it takes the place of a front end of this name that the same
    /// token has connected, as a page does that is loaded again.
    #[serde(default)]
    pub replace: bool,
}

/// A tool of a front end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontEndTool {
    /// 1 to 64 characters of `[A-Za-z0-9_-]` without two underscores in a row.
    pub name: String,
    /// For the model that chooses.
    pub description: String,
    /// For people.
    pub title: Option<String>,
    /// JSON Schema 2020-12 of the arguments: an object's.
    pub input_schema: Map<String, Value>,
    /// JSON Schema 2020-12 of the structured answer: an object's.
    pub output_schema: Option<Map<String, Value>>,
    /// The protocol's hints, such as `readOnlyHint`.
    pub annotations: Option<Map<String, Value>>,
    /// How long a call may take, in milliseconds, up to
    /// `wall_time_ceiling_milliseconds`; `wall_time_milliseconds` where absent.
    pub timeout_ms: Option<u64>,
}

/// A front end that is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FrontEndDescription {
    /// Its handle.
    pub front_end: String,
    /// What it called itself.
    pub name: String,
    /// Its tools as clients see them.
    pub tools: Vec<String>,
    /// How many calls wait for its answer. Absent where it is connected at another host of the
    /// cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_calls: Option<u64>,
    /// How long it may neither follow its calls nor ask for them, in
    /// milliseconds. Then it is disconnected.
    pub silent_ms: u64,
}

/// Something that a front end is told.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FrontEndEvent {
    /// A tool is called.
    Call(FrontEndCall),
    /// A call is over that it has not answered.
    Cancel(FrontEndCancel),
}

/// A call that waits for its answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrontEndCall {
    /// Names the call, and orders events.
    pub number: u64,
    /// The tool's own name.
    pub tool: String,
    /// They conform to the schema of the tool.
    pub arguments: Map<String, Value>,
    /// On behalf of which session.
    #[schemars(with = "String")]
    pub session: SessionId,
    /// On behalf of which assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub assistant: Option<AssistantId>,
    /// On behalf of which thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub thread: Option<ThreadId>,
    /// How long an answer is still waited for, in milliseconds.
    pub remaining_ms: u64,
}

/// The end of a call that nobody waits for any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FrontEndCancel {
    /// Orders events.
    pub number: u64,
    /// The number of the call.
    pub call: u64,
    /// `cancelled` by its caller, or `timeout`; there may be more.
    pub reason: &'static str,
}

impl FrontEndEvent {
    /// Where it stands among the events of its front end, from 1 on.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::Call(call) => call.number,
            Self::Cancel(cancel) => cancel.number,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Call(_) => "call",
            Self::Cancel(_) => "cancel",
        }
    }
}

/// The answer to a call: what the tool says, or `error`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerCall {
    /// Parts in reading order.
    #[serde(default)]
    pub content: Vec<AnswerPart>,
    /// Conforms to the output schema of the tool, where it has one.
    pub structured: Option<Value>,
    /// The tool could not do it, in a way that the model should react to.
    #[serde(default)]
    pub is_error: bool,
    /// The call has failed; nothing else is sent then.
    pub error: Option<AnswerError>,
}

/// A part of an answer: either `text` or `base64`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPart {
    /// Text of the type `mime_type`.
    pub text: Option<String>,
    /// Bytes of the type `mime_type`.
    pub base64: Option<String>,
    /// `text/plain` where absent.
    pub mime_type: Option<String>,
}

/// Why a call has failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerError {
    /// `denied`, `invalid`, `not-found`, `conflict`, `limit`, `timeout`, `gone`,
    /// `unavailable` or `internal`; another word counts as `internal`.
    pub code: String,
    /// What happened, and what to do about it.
    pub message: String,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TellProgress {
    /// Grows from one to the next.
    pub done: f64,
    /// What `done` will be at the end.
    pub total: Option<f64>,
    /// For people; 1 KiB at most.
    pub message: Option<String>,
}

/// Front ends that are connected. A front end of another owner is `not-found`.
#[async_trait::async_trait]
pub trait FrontEndService: Send + Sync + 'static {
    /// Connects one; its tools are listed from now on.
    ///
    /// # Errors
    /// `invalid` for a definition that is refused, `conflict` where the name is
    /// taken, `limit` where there are as many as may be, or too much is said; `unavailable` where
    /// the database of the cluster does not answer.
    async fn connect(&self, owner: &FrontEndOwner, front_end: ConnectFrontEnd) -> Result<FrontEndDescription, Error>;

    /// Those of the owner, by name, at whichever host of a cluster.
    async fn list(&self, owner: &FrontEndOwner) -> Vec<FrontEndDescription>;

    /// Disconnects one: its tools are gone, its waiting calls end with `gone`.
    ///
    /// # Errors
    /// `not-found`.
    async fn disconnect(&self, owner: &FrontEndOwner, front_end: &str) -> Result<(), Error>;

    /// Waits for events after the number `after`. A front end is told of calls that
    /// wait until it has seen them, however often it comes back. The list is empty once
    /// `patience` is over; `None` means that the front end was disconnected meanwhile.
    ///
    /// # Errors
    /// `not-found`.
    async fn events(
        &self,
        owner: &FrontEndOwner,
        front_end: &str,
        after: u64,
        patience: Duration,
    ) -> Result<Option<Vec<FrontEndEvent>>, Error>;

    /// Answers a call. One that is refused still waits, and can be answered
    /// anew.
    ///
    /// # Errors
    /// `not-found` for a call that never was, `gone` for one that nobody waits
    /// for any more, `conflict` for one that was answered; `invalid` and
    /// `limit` for an answer that is refused.
    async fn answer(&self, owner: &FrontEndOwner, front_end: &str, call: u64, answer: AnswerCall) -> Result<(), Error>;

    /// Tells the client of a call how far it has come.
    ///
    /// # Errors
    /// Those of an answer to such a call; `invalid` where a number is illegal or
    /// has not grown, `limit` where the call has told as much as it may.
    fn progress(&self, owner: &FrontEndOwner, front_end: &str, call: u64, progress: TellProgress) -> Result<(), Error>;
}
