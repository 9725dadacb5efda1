//! What happened, for whoever keeps it: each call, and each thing that a plugin
//! asked the host for.
//!
//! Owns the words of an audit and the way from a call to a sink. What is here
//! are names, ids, sizes and times; arguments and answers never come this far.
//! Knows nothing of files, formats or metrics.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant, SystemTime},
};

use crate::{Answer, Code, Context, Digest, Error, PluginName, text};

/// Longest name of a tool that does not exist, and longest word of what a
/// plugin asked for: both are somebody else's text.
pub const MAX_NAME_BYTES: usize = 128;

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

    /// Waits until what was recorded is kept, at most so long. Blocks.
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
    /// A change of the plugins or of their grants; `function` says which.
    Change,
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
            Self::Change => "change",
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
            Ok(answer) if answer.input_required.is_some() => Self::InputRequired,
            Ok(answer) if answer.is_error => Self::ToolError,
            Ok(_) => Self::Ok,
            Err(error) => Self::Failed(error.code),
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
    /// On whose behalf; nobody's where the operator changed something.
    pub context: Option<Context>,
    /// The plugin; `app` for tools of the embedding app, and none for a tool
    /// that does not exist.
    pub plugin: Option<PluginName>,
    /// The component, where it is one.
    pub digest: Option<Digest>,
    /// The tool's own name, or what was asked for where there is no such tool.
    pub tool: Arc<str>,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct AuditRecord {
    /// When it was over.
    pub time: SystemTime,
    /// What kind of thing.
    pub kind: AuditKind,
    /// Who called what.
    pub subject: Arc<AuditSubject>,
    /// `INTERFACE.FUNCTION` of a host call, or which change.
    pub function: Option<Arc<str>>,
    /// What a host call was about: the name of a program, the id of a process,
    /// an origin. Clean, and at most [`MAX_NAME_BYTES`] long.
    pub asked: Option<Box<str>>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// Bytes that came from who asked.
    pub bytes_in: u64,
    /// Bytes that were answered.
    pub bytes_out: u64,
    /// How long it took.
    pub took: Duration,
}

/// A name of somebody else's, fit for a record.
#[must_use]
pub fn shown<T: for<'n> From<&'n str>>(name: &str) -> T {
    // Most names are short and clean, and need no second copy.
    if name.len() <= MAX_NAME_BYTES && name.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return name.into();
    }
    text::line(name, MAX_NAME_BYTES).as_str().into()
}

/// One host call that is over, as the engine tells it.
#[derive(Debug)]
pub struct HostCall {
    /// `INTERFACE.FUNCTION`.
    pub function: Arc<str>,
    /// See [`AuditRecord::asked`].
    pub asked: Option<Box<str>>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// Bytes that came from the guest.
    pub bytes_in: u64,
    /// Bytes that went to it.
    pub bytes_out: u64,
    /// How long it took.
    pub took: Duration,
}

/// A running call on its way to the sink: says that it is over when it is told
/// how, or when it is dropped, for a call that nobody waits for any more has
/// ended, too.
pub struct CallAudit {
    subject: Arc<AuditSubject>,
    sink: Arc<dyn AuditSink>,
    interest: AuditInterest,
    kind: AuditKind,
    began: Instant,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

impl fmt::Debug for CallAudit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallAudit").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl CallAudit {
    /// A call that begins now.
    pub fn begin(sink: Arc<dyn AuditSink>, kind: AuditKind, subject: AuditSubject) -> RunningCall {
        let interest = sink.interest();
        let audit = Self {
            subject: Arc::new(subject),
            sink,
            interest,
            kind,
            began: Instant::now(),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
        };
        RunningCall { audit: Arc::new(audit), told: false }
    }

    /// What the sink wants to hear.
    #[must_use]
    pub fn interest(&self) -> AuditInterest {
        self.interest
    }

    /// Says how much the caller sent.
    pub fn took_in(&self, bytes: u64) {
        self.bytes_in.store(bytes, Relaxed);
    }

    /// Says how much was answered.
    pub fn gave_out(&self, bytes: u64) {
        self.bytes_out.store(bytes, Relaxed);
    }

    /// Tells of a host call of this call, where the sink wants it.
    pub fn host_call(&self, call: HostCall) {
        let denied = call.outcome == AuditOutcome::Failed(Code::Denied);
        if !denied && !self.interest.host_calls {
            return;
        }
        self.sink.record(AuditRecord {
            time: SystemTime::now(),
            kind: if denied { AuditKind::Denied } else { AuditKind::HostCall },
            subject: Arc::clone(&self.subject),
            function: Some(call.function),
            asked: call.asked,
            outcome: call.outcome,
            bytes_in: call.bytes_in,
            bytes_out: call.bytes_out,
            took: call.took,
        });
    }

    fn tell(&self, outcome: AuditOutcome) {
        self.sink.record(AuditRecord {
            time: SystemTime::now(),
            kind: self.kind,
            subject: Arc::clone(&self.subject),
            function: None,
            asked: None,
            outcome,
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            took: self.began.elapsed(),
        });
    }
}

/// A call that is not over; see [`CallAudit`].
#[derive(Debug)]
#[must_use = "a call is over when this is dropped"]
pub struct RunningCall {
    audit: Arc<CallAudit>,
    told: bool,
}

impl RunningCall {
    /// What the engine is handed.
    #[must_use]
    pub fn audit(&self) -> &Arc<CallAudit> {
        &self.audit
    }

    /// Tells how it ended.
    pub fn ended(mut self, outcome: AuditOutcome) {
        self.told = true;
        self.audit.tell(outcome);
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.told {
            self.audit.tell(AuditOutcome::Failed(Code::Cancelled));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::TenantId;

    #[derive(Default)]
    struct Kept {
        records: Mutex<Vec<AuditRecord>>,
        interest: AuditInterest,
    }

    impl AuditSink for Kept {
        fn record(&self, record: AuditRecord) {
            self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }

        fn interest(&self) -> AuditInterest {
            self.interest
        }
    }

    fn begin(sink: &Arc<Kept>) -> RunningCall {
        let subject = AuditSubject {
            id: AuditId { host: 0xabc, number: 7 },
            context: Some(Context::new(TenantId::local(), "s".parse().expect("legal"))),
            plugin: None,
            digest: None,
            tool: "t".into(),
        };
        let sink: Arc<dyn AuditSink> = sink.clone();
        CallAudit::begin(sink, AuditKind::Call, subject)
    }

    fn host_call(outcome: AuditOutcome) -> HostCall {
        let function = "process.spawn".into();
        HostCall { function, asked: None, outcome, bytes_in: 1, bytes_out: 2, took: Duration::ZERO }
    }

    #[test]
    fn a_call_is_told_once_whether_it_ends_or_is_given_up() {
        let sink = Arc::new(Kept::default());
        begin(&sink).ended(AuditOutcome::Ok);
        drop(begin(&sink));
        let told: Vec<_> =
            sink.records.lock().expect("not poisoned").iter().map(|record| record.outcome.as_str()).collect();
        assert_eq!(told, ["ok", "cancelled"]);
    }

    #[test]
    fn who_wants_no_host_calls_still_hears_of_denials() {
        let interest = AuditInterest { host_calls: false, names: false };
        let sink = Arc::new(Kept { interest, ..Kept::default() });
        let call = begin(&sink);
        call.audit().host_call(host_call(AuditOutcome::Ok));
        call.audit().host_call(host_call(AuditOutcome::Failed(Code::Limit)));
        call.audit().host_call(host_call(AuditOutcome::Failed(Code::Denied)));
        let kinds: Vec<_> = sink.records.lock().expect("not poisoned").iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [AuditKind::Denied]);
    }

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
