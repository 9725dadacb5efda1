//! Records of what happened: each call, and each thing that a plugin asked the host for.
//!
//! Owns the words of an audit and the way from a call to a sink. Records hold names,
//! ids, sizes and times; answers never come this far, and arguments only of tools that the
//! operator names, cut and masked. Knows nothing of files, formats or metrics.

mod call;
mod refusal;
mod repeats;
mod requester;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

pub use call::{ApprovedAct, CallAudit, HostCall, RunningCall};
pub use refusal::{PeerClass, Refusal, RefusalSink, RefusedFor};
pub use requester::{AuditAddresses, Requester};

use crate::{Answer, Code, Context, Digest, Error, PluginName, text, trace::TraceId};

/// Longest name of a tool that does not exist, and longest word of what a
/// plugin asked for: both are foreign text.
pub const MAX_NAME_BYTES: usize = 128;
/// Longest name of a signer.
pub const MAX_SIGNER_BYTES: usize = 1_024;

/// Longest text of what a change replaced.
pub const MAX_CHANGE_BYTES: usize = 512;
/// Longest text of arguments, where the operator has them recorded.
pub const MAX_ARGUMENT_BYTES: usize = 1_024;

/// Takes what happened: the host's files, or an app's own.
///
/// A record is handed over once what it tells of is over, on the thread where
/// that happened, and the call waits meanwhile: whatever takes longer than a
/// lock belongs on a thread of the sink's own.
pub trait AuditSink: Send + Sync + 'static {
    /// Takes one record.
    fn record(&self, record: AuditRecord);

    /// What this sink wants to hear; asked once for each call.
    fn interest(&self) -> AuditInterest {
        AuditInterest::default()
    }

    /// Waits until what was recorded is kept as it will be once the program has ended, at most so long. Blocks.
    fn flush(&self, _patience: Duration) {}

    /// How many records could not be kept.
    fn dropped(&self) -> u64 {
        0
    }
}

/// What a sink wants to hear besides calls and denials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditInterest {
    /// Host calls that were not denied, too.
    pub host_calls: bool,
    /// What a host call asked for; without it only its function is told.
    pub names: bool,
}

impl Default for AuditInterest {
    /// Everything.
    fn default() -> Self {
        Self { host_calls: true, names: true }
    }
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditKind {
    /// A call of a tool, from its arrival to its answer.
    Call,
    /// A prompt, a resource or a completion that a plugin was asked for.
    Offer,
    /// Something that a plugin asked the host for, within a call.
    HostCall,
    /// The same where the operator has not granted it.
    Denied,
    /// A call that waits until a person allows it or what it asks for, and what came of that: `function`
    /// says which.
    Approval,
    /// A change of the plugins or of their grants; `function` says which.
    Change,
    /// A request that showed no token or secret which opens it; see [`RefusedFor`].
    Authentication,
    /// A request of a client that sends too many.
    Limited,
    /// Something that the operator did by a console or a command; `function` says what, and `asked` to what.
    Operator,
}

impl AuditKind {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Offer => "offer",
            Self::HostCall => "host-call",
            Self::Denied => "denied",
            Self::Approval => "approval",
            Self::Change => "change",
            Self::Authentication => "authentication",
            Self::Limited => "limited",
            Self::Operator => "operator",
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// As it should.
    Ok,
    /// With an answer that says what went wrong.
    ToolError,
    /// It asked its caller for something first.
    InputRequired,
    /// With an error.
    Failed(Code),
}

impl AuditOutcome {
    /// Its word: `ok`, `tool-error`, `input-required` or the error's code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::InputRequired => "input-required",
            Self::Failed(code) => code.as_str(),
        }
    }

    /// That of an answer.
    #[must_use]
    pub fn of(answered: &Result<Answer, Error>) -> Self {
        match answered {
            Ok(answer) => Self::of_answer(answer),
            Err(error) => Self::Failed(error.code),
        }
    }

    /// That of an answer that was given.
    #[must_use]
    pub fn of_answer(answer: &Answer) -> Self {
        match answer {
            _ if answer.input_required.is_some() => Self::InputRequired,
            _ if answer.is_error => Self::ToolError,
            _ => Self::Ok,
        }
    }
}

/// Names one call among all of all hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuditId {
    /// The host: random, made when it was opened.
    pub host: u64,
    /// The call of this host.
    pub number: u64,
}

impl fmt::Display for AuditId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}-{}", self.host, self.number)
    }
}

/// Who called what: the same for a call and for all that it asks the host for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSubject {
    /// Names the call.
    pub id: AuditId,
    /// On whose behalf the call was made; absent where the operator changed something.
    pub context: Option<Context>,
    /// The plugin; `app` for tools of the embedding app, and none for a tool
    /// that does not exist.
    pub plugin: Option<PluginName>,
    /// The component, where it is one.
    pub digest: Option<Digest>,
    /// Who signed that component, in a record of a change. Clean, and at most [`MAX_SIGNER_BYTES`] long.
    pub signer: Option<Arc<str>>,
    /// The tool's own name, or what was asked for where there is no such tool.
    pub tool: Arc<str>,
    /// The program that called, as it calls itself. Clean, and at most
    /// [`MAX_NAME_BYTES`] long.
    pub client: Option<Arc<str>>,
    /// Who sent the request, where it came over a network or from an operator.
    pub requester: Option<Arc<Requester>>,
}

impl AuditSubject {
    /// What happened outside of any call.
    #[must_use]
    pub fn outside_calls(id: AuditId) -> Self {
        Self {
            id,
            context: None,
            plugin: None,
            digest: None,
            signer: None,
            tool: Arc::default(),
            client: None,
            requester: None,
        }
    }
}

/// One thing that happened, or several of the same kind.
#[derive(Debug, Clone)]
pub struct AuditRecord {
    /// When it was over; the last one, of several.
    pub time: SystemTime,
    /// How many it tells of. Denials of one call that are the same are told twice at
    /// most: the first one at once, and all others together when the call is over.
    pub count: u64,
    /// What kind of thing.
    pub kind: AuditKind,
    /// Who called what.
    pub subject: Arc<AuditSubject>,
    /// `INTERFACE.FUNCTION` of a host call, which change, or why a token was refused.
    pub function: Option<Arc<str>>,
    /// What a host call was about: the name of a program, the id of a process,
    /// an origin. Clean, and at most [`MAX_NAME_BYTES`] long. Of a change, what a plugin may use or why it
    /// was rejected, at most [`MAX_CHANGE_BYTES`] long.
    pub asked: Option<Box<str>>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// Bytes that came in with the request.
    pub bytes_in: u64,
    /// Bytes that were answered.
    pub bytes_out: u64,
    /// Most bytes of linear memory that the call's instance had; none for what runs no
    /// component.
    pub memory_bytes: Option<u64>,
    /// The trace that tells of it too, where its spans are kept.
    pub trace: Option<TraceId>,
    /// The arguments of a call, where the operator has them recorded: JSON without what looks like a secret, cut
    /// to [`MAX_ARGUMENT_BYTES`].
    pub arguments: Option<Box<str>>,
    /// What a change replaced, and by what. Clean, and each at most [`MAX_CHANGE_BYTES`] long.
    pub replaced: Option<Box<Replaced>>,
    /// How long it took.
    pub took: Duration,
}

/// What stood somewhere before a change and after it; nothing where nothing stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// Before.
    pub before: Option<Box<str>>,
    /// After.
    pub after: Option<Box<str>>,
}

impl Replaced {
    /// These texts, made fit for a record; nothing where neither is there.
    #[must_use]
    pub fn of(before: Option<&str>, after: Option<&str>) -> Option<Self> {
        let shown = |text: &str| text::line(text, MAX_CHANGE_BYTES).into_boxed_str();
        (before.is_some() || after.is_some()).then(|| Self { before: before.map(shown), after: after.map(shown) })
    }
}

impl AuditRecord {
    /// One that has just happened, as it should, with neither size nor duration.
    #[must_use]
    pub fn event(kind: AuditKind, subject: Arc<AuditSubject>) -> Self {
        Self {
            time: SystemTime::now(),
            count: 1,
            kind,
            subject,
            function: None,
            asked: None,
            outcome: AuditOutcome::Ok,
            bytes_in: 0,
            bytes_out: 0,
            memory_bytes: None,
            trace: None,
            arguments: None,
            replaced: None,
            took: Duration::ZERO,
        }
    }
}

/// A foreign name, made fit for a record.
#[must_use]
pub fn shown<T: for<'n> From<&'n str>>(name: &str) -> T {
    // Most names are short and clean, and need no second copy.
    if name.len() <= MAX_NAME_BYTES && name.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return name.into();
    }
    text::line(name, MAX_NAME_BYTES).as_str().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_one_short_line() {
        assert_eq!(shown::<String>("git"), "git");
        assert_eq!(shown::<String>("a\u{1b}[31m\n{\"kind\":\"call\"}\u{202e}"), "a[31m{\"kind\":\"call\"}");
        assert!(shown::<String>(&"é".repeat(1_000)).len() <= MAX_NAME_BYTES);
    }

    #[test]
    fn an_id_names_host_and_call() {
        assert_eq!(AuditId { host: 0xabc, number: 7 }.to_string(), "0000000000000abc-7");
    }
}
