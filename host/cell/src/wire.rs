//! What two hosts say to each other about a call.
//!
//! A call is one request: a line of JSON that says whose and what, and the arguments as their
//! JSON text. Its answer is lines of JSON: progress and messages as they come, and the outcome
//! last. The version stands in the path, so that hosts of two versions understand each other.

mod answer;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{
    AssistantId, Code, Context, Error, PluginName, SessionId, TenantId, ThreadId,
    audit::Requester,
    service::{Arguments, Caller, HomeAnswer, HomeQuestion, HomeRequest, InputGiven, Level, offer::CompletionOf},
    trace::{RemoteParent, SpanContext, TraceParent},
};

pub(crate) use answer::WireAnswer;

/// Makes a call.
pub(crate) const CALL: &str = "/peer/1/call";
/// Passes an HTTP request on.
pub(crate) const HTTP: &str = "/peer/1/http";
/// Says which life listens here.
pub(crate) const ALIVE: &str = "/peer/1/alive";
/// Tells changes: see [`crate::notices`].
pub(crate) const NOTICES: &str = "/peer/1/notices";
/// Asks another host whether it reaches a third one.
pub(crate) const PROBE: &str = "/peer/1/probe";
/// Asks whether a host could use another configuration of all hosts.
pub(crate) const CONSIDER: &str = "/peer/1/consider";
/// Asks whether a host could serve another plugin of all hosts.
pub(crate) const CONSIDER_PLUGIN: &str = "/peer/1/consider-plugin";
/// The life that a request is meant for, and the one that answers.
pub(crate) const INCARNATION: &str = "wharf-incarnation";

/// The header that names the settings of all hosts which the one that answers has started with.
pub(crate) const CONFIGURED: &str = "wharf-configured";

/// What a call says beside its arguments.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallHead {
    asked: WireAsked,
    tenant: TenantId,
    session: SessionId,
    assistant: Option<AssistantId>,
    thread: Option<ThreadId>,
    #[serde(default)]
    meta: Map<String, Value>,
    capabilities: Option<Map<String, Value>>,
    client: Option<String>,
    /// Who sent it. Hosts of an earlier version say nothing.
    #[serde(default)]
    requester: Option<Requester>,
    /// Not kept, or the ids of a span.
    trace: Option<Trace>,
    #[serde(default)]
    responses: Map<String, Value>,
    state: Option<String>,
    /// Whether somebody listens to progress and messages.
    listens: bool,
    /// Whether the session's files may be used.
    pub(crate) keeps_files: bool,
    /// Whether the receiver may become the home: the session has none.
    pub(crate) may_claim: bool,
    /// Whether the receiver is asked for itself, whatever is the session's home: it has the front
    /// end. Hosts of an earlier version have none, and are never asked so.
    #[serde(default)]
    pub(crate) of_host: bool,
}

/// Why a call goes to that host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directed {
    /// It is the home of the session, or may become it.
    ToHome { keeps_files: bool, may_claim: bool },
    /// It has what is called.
    ToHost,
}

/// What is asked, beside its arguments and input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireAsked {
    Tool(String),
    Prompt(String),
    List(PluginName),
    Read(String),
    Complete { of: CompletionOf, argument: String, typed: String },
}

impl WireAsked {
    /// With the JSON text of the arguments.
    fn of(asked: &HomeQuestion) -> Result<(Self, Arc<str>), Error> {
        let none = || Arc::from("{}");
        Ok(match asked {
            HomeQuestion::Call { tool, arguments, .. } => (Self::Tool(tool.clone()), Arc::clone(arguments.text())),
            HomeQuestion::Prompt { name, arguments, .. } => (Self::Prompt(name.clone()), Arc::clone(arguments.text())),
            HomeQuestion::List { plugin } => (Self::List(plugin.clone()), none()),
            HomeQuestion::Read { uri } => (Self::Read(uri.clone()), none()),
            HomeQuestion::Complete { of, argument, typed, others } => {
                let complete = Self::Complete { of: of.clone(), argument: argument.clone(), typed: typed.clone() };
                (complete, serde_json::to_string(others).map_err(|_| no_form())?.into())
            }
        })
    }

    fn into_asked(self, arguments: Arguments, input: InputGiven) -> HomeQuestion {
        match self {
            Self::Tool(tool) => HomeQuestion::Call { tool, arguments, input },
            Self::Prompt(name) => HomeQuestion::Prompt { name, arguments, input },
            Self::List(plugin) => HomeQuestion::List { plugin },
            Self::Read(uri) => HomeQuestion::Read { uri },
            Self::Complete { of, argument, typed } => {
                HomeQuestion::Complete { of, argument, typed, others: arguments.into_values() }
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
enum Trace {
    NotKept,
    /// `traceparent` and `tracestate`.
    Of(String, Option<String>),
}

impl CallHead {
    /// The request's body.
    pub(crate) fn body(request: &HomeRequest, directed: Directed) -> Result<Bytes, Error> {
        let (keeps_files, may_claim) = match directed {
            Directed::ToHome { keeps_files, may_claim } => (keeps_files, may_claim),
            Directed::ToHost => (false, false),
        };
        let Caller { context, meta, capabilities, client, requester, events, trace, .. } = &*request.caller;
        let InputGiven { responses, state } = request.asked.input().cloned().unwrap_or_default();
        let (asked, arguments) = WireAsked::of(&request.asked)?;
        let head = Self {
            asked,
            tenant: context.tenant.clone(),
            session: context.session.clone(),
            assistant: context.assistant.clone(),
            thread: context.thread.clone(),
            meta: meta.clone(),
            capabilities: capabilities.clone(),
            client: client.as_deref().map(str::to_owned),
            requester: requester.as_deref().cloned(),
            trace: trace.as_ref().map(Trace::of),
            responses,
            state,
            listens: events.is_some(),
            keeps_files,
            may_claim,
            of_host: directed == Directed::ToHost,
        };
        let mut body = serde_json::to_vec(&head).map_err(|_| no_form())?;
        body.reserve_exact(arguments.len() + 1);
        body.push(b'\n');
        body.extend_from_slice(arguments.as_bytes());
        Ok(body.into())
    }

    /// Reads a request's body.
    pub(crate) fn read(body: &[u8]) -> Result<(Self, Arguments), Error> {
        let end = body.iter().position(|byte| *byte == b'\n').ok_or_else(malformed)?;
        let head = serde_json::from_slice(&body[..end]).map_err(|_| malformed())?;
        let arguments = str::from_utf8(&body[end + 1..]).map_err(|_| malformed())?;
        Ok((head, Arguments::parse(arguments.into()).map_err(|_| malformed())?))
    }

    /// Whether somebody listens.
    pub(crate) fn listens(&self) -> bool {
        self.listens
    }

    pub(crate) fn context(&self) -> Context {
        let mut context = Context::new(self.tenant.clone(), self.session.clone());
        context.assistant.clone_from(&self.assistant);
        context.thread.clone_from(&self.thread);
        context
    }

    /// The call, as this host makes it.
    pub(crate) fn into_request(self, arguments: Arguments, mut caller: Caller) -> HomeRequest {
        caller.meta = self.meta;
        caller.capabilities = self.capabilities;
        caller.client = self.client.map(Arc::from);
        caller.requester = self.requester.map(Arc::new);
        caller.trace = self.trace.and_then(Trace::into_parent);
        let input = InputGiven { responses: self.responses, state: self.state };
        HomeRequest { caller: Arc::new(caller), asked: self.asked.into_asked(arguments, input) }
    }
}

impl Trace {
    fn of(parent: &TraceParent) -> Self {
        let of_span = |context: &SpanContext, is_sampled| {
            let SpanContext { trace, span, state } = context;
            let parent = format!("00-{trace}-{span}-{:02x}", u8::from(is_sampled));
            Self::Of(parent, state.as_deref().map(str::to_owned))
        };
        match parent {
            TraceParent::NotKept => Self::NotKept,
            TraceParent::Span(context) => of_span(context, true),
            TraceParent::Remote(remote) => of_span(&remote.context, remote.sampled),
        }
    }

    fn into_parent(self) -> Option<TraceParent> {
        match self {
            Self::NotKept => Some(TraceParent::NotKept),
            Self::Of(parent, state) => RemoteParent::of_headers(&parent, state.as_deref()).map(TraceParent::Remote),
        }
    }
}

/// A line of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Frame<'f> {
    Progress {
        done: f64,
        total: Option<f64>,
        #[serde(borrow)]
        message: Option<Cow<'f, str>>,
    },
    Waits(#[serde(borrow)] Cow<'f, str>),
    Message {
        level: Cow<'f, str>,
        data: Value,
    },
    Answer(WireAnswer),
    Error(WireError),
}

impl Frame<'_> {
    pub(crate) fn message(level: Level, data: Value) -> Self {
        Frame::Message { level: Cow::Borrowed(level.as_str()), data }
    }

    pub(crate) fn outcome(outcome: Result<HomeAnswer, Error>) -> Self {
        match outcome {
            Ok(answer) => Self::Answer(WireAnswer::of(answer)),
            Err(error) => Self::Error(WireError::of(&error)),
        }
    }

    /// The line, with its end.
    pub(crate) fn line(&self) -> Bytes {
        let mut line = serde_json::to_vec(self).unwrap_or_else(|_| {
            // What was read as JSON, or made of values, has a form in JSON.
            serde_json::to_vec(&Frame::Error(WireError::of(&no_form()))).unwrap_or_default()
        });
        line.push(b'\n');
        line.into()
    }
}

/// An error, as it goes from host to host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireError {
    code: String,
    message: String,
    retryable: bool,
}

impl WireError {
    pub(crate) fn of(error: &Error) -> Self {
        Self { code: error.code.as_str().to_owned(), message: error.message.clone(), retryable: error.retryable }
    }

    pub(crate) fn into_error(self) -> Error {
        let cancelled = Code::Cancelled;
        let code = if self.code == cancelled.as_str() { cancelled } else { Code::from_guest(&self.code) };
        Error { code, message: self.message, retryable: self.retryable }
    }
}

/// Why a host did not take up a call: nothing of it has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Misdirected {
    /// The host is not the session's home.
    NotHome,
    /// The host has another life than the one that was meant.
    OtherLife,
    /// The host has not begun to serve.
    NotReady,
}

/// What a host says of a configuration or a plugin that all hosts would have.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Considered {
    /// Why it cannot use it.
    pub(crate) refused: Option<String>,
}

/// Asks for a look at a third host, at the address that the witness itself has of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProbeRequest {
    pub(crate) incarnation: crate::Incarnation,
}

/// What a look at a host found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sight {
    /// That life answers.
    Alive,
    /// Nobody listens there, or another life does: that one has ended.
    Ended,
    /// It cannot be told: silence, a certificate that is not accepted, no way there.
    Unclear,
}

fn no_form() -> Error {
    Error::new(Code::Internal, "a value of the call has no form in JSON")
}

pub(crate) fn malformed() -> Error {
    Error::new(Code::Internal, "another host of the cell sent a message that this version does not know")
}
