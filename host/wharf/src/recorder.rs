//! Records what happens in one host: every call is counted, and told to the files
//! of the data directory or to the app's own sink, and to the tracer.
//!
//! Knows neither the form of a line nor that of a metric.

pub(crate) mod arguments;
pub(crate) mod configured;
mod durations;
pub(crate) mod refusals;
mod traced;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use parking_lot::Mutex;
use wharf_audit::{AuditSigner, FileSink, Syslog};
use wharf_core::{
    Code, Context, Digest, PluginName, SessionId,
    audit::{
        AuditId, AuditInterest, AuditKind, AuditOutcome, AuditRecord, AuditSink, AuditSubject, CallAudit,
        MAX_SIGNER_BYTES, Refusal, RefusedFor, Replaced, Requester, RunningCall, shown,
    },
    grant::GrantClock,
    service::{Caller, front_end::FrontEndOwner, operator::OperatorAct},
    text,
    tool::ToolSelection,
    trace::{TraceParent, Tracer},
};
use wharf_state::HostTime;
use wharf_trust::Signer;

use self::{durations::Durations, refusals::Refusals, traced::TracedCall};
use crate::{configuration::AuditSettings, metrics::calls::CallMetrics, registry::Callee};

/// Where the lines are, below the data directory.
const AUDIT: &str = "audit";

/// The directory of the audit lines of a data directory.
#[must_use]
pub fn audit_directory(data: &Path) -> PathBuf {
    data.join(AUDIT)
}

/// Hears of everything that happens in one host.
pub(crate) struct Recorder {
    /// Tells this host from all others.
    host: u64,
    calls: AtomicU64,
    /// Calls that have ended, and those of them that failed.
    durations: Durations,
    failed: AtomicU64,
    pub(crate) metrics: CallMetrics,
    kept: Option<Arc<dyn AuditSink>>,
    /// Sends what is kept to a log server.
    pub(crate) copies: Option<Arc<Syslog>>,
    /// Tools whose arguments are told.
    told_arguments: Option<ToolSelection>,
    /// Nobody traces where it is absent.
    pub(crate) tracer: Option<Tracer>,
    /// Those that count refused requests, and tell what they have counted when lines are flushed:
    /// a connection that is just ending may keep them for longer than the host lives.
    // A blocking lock: held to add one, and while a host ends.
    refusals: Mutex<Vec<Weak<Refusals>>>,
}

impl Recorder {
    /// Lines go to `sink`, where the app brings one; else below `data`, where
    /// there is a directory and the operator wants them.
    pub(crate) fn open(
        host: u64,
        (settings, signer, copies): (&AuditSettings, Option<AuditSigner>, Option<Arc<Syslog>>),
        data: Option<&Path>,
        sink: Option<Arc<dyn AuditSink>>,
        tracer: Option<Tracer>,
        time: HostTime,
    ) -> Arc<Self> {
        let kept = sink.or_else(|| {
            let directory = audit_directory(data.filter(|_| settings.enabled)?);
            let files = wharf_audit::AuditFileOptions {
                rotate_bytes: settings.rotate_bytes,
                keep_files: settings.keep_files,
                keep: settings.keep,
                addresses: settings.addresses,
            };
            // A clock that jumps removes no file.
            let passed = time.clone();
            let clock = wharf_audit::AuditClock {
                stamp: GrantClock::new(move || time.stamp()),
                passed: GrantClock::new(move || passed.passed()),
            };
            FileSink::open(directory, files, settings.host_calls, clock, signer, copies.clone())
                .inspect_err(|error| tracing::error!("there is no audit: its thread cannot be had: {error}"))
                .ok()
                .map(|sink| Arc::new(sink) as Arc<dyn AuditSink>)
        });
        Arc::new(Self {
            host,
            calls: AtomicU64::new(0),
            durations: Durations::default(),
            failed: AtomicU64::new(0),
            metrics: CallMetrics::default(),
            kept,
            copies,
            told_arguments: settings.record_arguments.clone(),
            tracer,
            refusals: Mutex::default(),
        })
    }

    /// Begins the record of a call of the tool of this full name; `callee` is absent where there
    /// is no such tool. The audit calls the tool by its own name, and a span by the full one.
    pub(crate) fn begin(self: &Arc<Self>, caller: &Caller, name: &str, callee: Option<&Callee>) -> RunningCall {
        let subject = AuditSubject {
            id: self.next(),
            context: Some(caller.context.clone()),
            plugin: callee.map(Callee::plugin),
            digest: callee.and_then(Callee::digest),
            signer: None,
            tool: shown(callee.map_or(name, |callee| callee.known_as(name))),
            client: caller.client.clone(),
            requester: caller.requester.clone(),
        };
        self.begin_kind(AuditKind::Call, subject, callee.map(|_| name), caller.trace.as_ref())
    }

    /// Whether arguments of the tool of this full name are told.
    pub(crate) fn tells_arguments(&self, name: &str) -> bool {
        self.told_arguments.as_ref().is_some_and(|told| told.selects(name))
    }

    /// A prompt, a resource or a completion that a plugin is asked for. `what`
    /// is the host's word for it, and then what the client called it.
    pub(crate) fn begin_offer(
        self: &Arc<Self>,
        caller: &Caller,
        (plugin, digest): (PluginName, Option<Digest>),
        what: &str,
    ) -> RunningCall {
        let subject = AuditSubject {
            id: self.next(),
            context: Some(caller.context.clone()),
            plugin: Some(plugin),
            digest,
            signer: None,
            tool: shown(what),
            client: caller.client.clone(),
            requester: caller.requester.clone(),
        };
        self.begin_kind(AuditKind::Offer, subject, Some(what), caller.trace.as_ref())
    }

    fn begin_kind(
        self: &Arc<Self>,
        kind: AuditKind,
        subject: AuditSubject,
        known_as: Option<&str>,
        parent: Option<&TraceParent>,
    ) -> RunningCall {
        let mut sink = Arc::clone(self) as Arc<dyn AuditSink>;
        let tracer = self.tracer.as_ref();
        if let Some(traced) =
            tracer.and_then(|tracer| TracedCall::begin(&sink, tracer, kind, &subject, known_as, parent))
        {
            sink = Arc::new(traced);
        }
        CallAudit::begin(sink, kind, subject)
    }

    /// Something that the operator changed: `change` is a word such as `loaded`, `said` what the plugin may use
    /// or why it was rejected, and `took` how long it took to make the plugin ready.
    pub(crate) fn change(
        &self,
        change: &str,
        (plugin, digest, signer): (PluginName, Option<Digest>, Option<&Signer>),
        (said, replaced): (Option<String>, Option<Replaced>),
        outcome: AuditOutcome,
        took: Duration,
    ) {
        let signer = signer.map(|signer| text::line(&signer.to_string(), MAX_SIGNER_BYTES).into());
        let subject = AuditSubject { plugin: Some(plugin), digest, signer, ..AuditSubject::outside_calls(self.next()) };
        let record = AuditRecord {
            function: Some(change.into()),
            asked: said.map(Into::into),
            outcome,
            replaced: replaced.map(Box::new),
            took,
            ..AuditRecord::event(AuditKind::Change, Arc::new(subject))
        };
        if let Some(tracer) = &self.tracer {
            traced::change(tracer, &record);
        }
        self.record(record);
    }

    /// Settings of a table of the configuration that the host has read anew.
    pub(crate) fn reconfigured(&self, table: &str, replaced: Replaced) {
        self.record(AuditRecord {
            function: Some("reconfigured".into()),
            asked: Some(shown(table)),
            replaced: Some(Box::new(replaced)),
            ..AuditRecord::event(AuditKind::Change, Arc::new(AuditSubject::outside_calls(self.next())))
        });
    }

    /// A front end that came or went: `change` is `connected` or `disconnected`.
    pub(crate) fn front_end(&self, change: &str, owner: &FrontEndOwner, name: &str) {
        let subject = AuditSubject {
            context: Some(Context::new(owner.tenant.clone(), SessionId::default_session())),
            plugin: Some(PluginName::app()),
            tool: shown(name),
            ..AuditSubject::outside_calls(self.next())
        };
        self.record(AuditRecord {
            function: Some(change.into()),
            ..AuditRecord::event(AuditKind::Change, Arc::new(subject))
        });
    }

    /// Something that the operator did, or tried to.
    pub(crate) fn operated(
        &self,
        act: &OperatorAct,
        by: &Requester,
        outcome: AuditOutcome,
        replaced: Option<Replaced>,
        took: Duration,
    ) {
        let subject =
            AuditSubject { requester: Some(Arc::new(by.clone())), ..AuditSubject::outside_calls(self.next()) };
        self.record(AuditRecord {
            function: Some(act.word.into()),
            asked: Some(shown(&act.to)),
            outcome,
            bytes_in: act.bytes,
            replaced: replaced.map(Box::new),
            took,
            ..AuditRecord::event(AuditKind::Operator, Arc::new(subject))
        });
    }

    /// So many requests that were not served.
    fn refused(&self, refusal: Refusal, count: u64) {
        let Refusal { why, from, requester, tenant } = refusal;
        let (kind, code) = match why {
            RefusedFor::TooManyRequests | RefusedFor::TooManyWrongTokens => (AuditKind::Limited, Code::Limit),
            _ => (AuditKind::Authentication, Code::Denied),
        };
        let subject = AuditSubject {
            context: tenant.map(|tenant| Context::new(tenant, SessionId::default_session())),
            requester: Some(Arc::new(requester)),
            ..AuditSubject::outside_calls(self.next())
        };
        self.record(AuditRecord {
            count,
            function: Some(why.as_str().into()),
            asked: Some(from.as_str().into()),
            outcome: AuditOutcome::Failed(code),
            ..AuditRecord::event(kind, Arc::new(subject))
        });
    }

    /// How many calls have ended, and how many of them failed.
    pub(crate) fn ended(&self) -> (u64, u64) {
        (self.durations.total(), self.failed.load(Relaxed))
    }

    /// How long they took; see [`HostReport`](wharf_core::service::operator::HostReport).
    pub(crate) fn durations(&self) -> Vec<u64> {
        self.durations.counts()
    }

    fn next(&self) -> AuditId {
        AuditId { host: self.host, number: self.calls.fetch_add(1, Relaxed) + 1 }
    }
}

impl AuditSink for Recorder {
    fn record(&self, record: AuditRecord) {
        self.metrics.count(&record);
        if record.kind == AuditKind::Call {
            self.durations.count(record.took);
            if matches!(record.outcome, AuditOutcome::Failed(_)) {
                self.failed.fetch_add(1, Relaxed);
            }
        }
        if let Some(kept) = &self.kept {
            kept.record(record);
        }
    }

    /// Denials are counted even where nothing listens.
    fn interest(&self) -> AuditInterest {
        let nothing = AuditInterest { host_calls: false, names: false };
        self.kept.as_ref().map_or(nothing, |kept| kept.interest())
    }

    fn flush(&self, patience: Duration) {
        for refusals in self.refusals.lock().iter().filter_map(Weak::upgrade) {
            refusals.tell();
        }
        if let Some(kept) = &self.kept {
            kept.flush(patience);
        }
    }

    fn dropped(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.dropped())
    }
}
