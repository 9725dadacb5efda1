//! The way of one call, and of all that it asks its host for, to a sink.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

use super::{AuditInterest, AuditKind, AuditOutcome, AuditRecord, AuditSink, AuditSubject, repeats::Repeats, shown};
use crate::Code;

/// One host call that is over, as the engine tells it.
#[derive(Debug, Clone)]
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

/// What a person was asked about within a call, in names and sizes; nothing where the call itself waited.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApprovedAct<'a> {
    /// A program, `shell`, or an origin.
    pub name: Option<&'a str>,
    /// Bytes of the command or of the address.
    pub bytes: u64,
}

/// A running call on its way to the sink: says that it is over when it is told
/// how, or when it is dropped, since a call that nobody waits for any more has ended, too.
pub struct CallAudit {
    subject: Arc<AuditSubject>,
    sink: Arc<dyn AuditSink>,
    interest: AuditInterest,
    kind: AuditKind,
    began: Instant,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    /// 0 where no instance was made.
    memory_bytes: AtomicU64,
    host_calls: AtomicU64,
    arguments: OnceLock<Box<str>>,
    // Held for a look-up, by denials alone.
    denials: Mutex<Repeats>,
}

impl fmt::Debug for CallAudit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallAudit").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl CallAudit {
    /// Who called what.
    #[must_use]
    pub fn subject(&self) -> &Arc<AuditSubject> {
        &self.subject
    }

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
            memory_bytes: AtomicU64::new(0),
            host_calls: AtomicU64::new(0),
            arguments: OnceLock::new(),
            denials: Mutex::default(),
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

    /// Has the record tell the arguments, which are [fit for it](AuditRecord::arguments).
    pub fn tells_arguments(&self, arguments: Box<str>) {
        let _ = self.arguments.set(arguments);
    }

    /// Says how much was answered.
    pub fn gave_out(&self, bytes: u64) {
        self.bytes_out.store(bytes, Relaxed);
    }

    /// Says how much linear memory an instance of the call had at most.
    pub fn held_memory(&self, bytes: u64) {
        self.memory_bytes.fetch_max(bytes, Relaxed);
    }

    /// How much linear memory an instance of the call has had at most so far; 0 where none was made.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Relaxed)
    }

    /// Counts a host call that begins.
    pub fn asked_host(&self) {
        self.host_calls.fetch_add(1, Relaxed);
    }

    /// How many host calls have begun.
    #[must_use]
    pub fn host_calls(&self) -> u64 {
        self.host_calls.load(Relaxed)
    }

    /// Since when it runs.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Tells of a host call of this call, where the sink wants it. A denial that was told
    /// before is counted, and the count is told when the call is over.
    pub fn host_call(&self, call: HostCall) {
        let denied = call.outcome == AuditOutcome::Failed(Code::Denied);
        if !denied && !self.interest.host_calls {
            return;
        }
        if denied && !self.denials().is_first(&call) {
            return;
        }
        self.sink.record(self.record_of(call, denied, 1));
    }

    /// Tells that the call waits until a person allows it or what it asks for, or what came of that;
    /// `waited` is how long it has.
    pub fn approval(&self, word: &'static str, of: ApprovedAct<'_>, outcome: AuditOutcome, waited: Duration) {
        self.sink.record(AuditRecord {
            function: Some(word.into()),
            asked: of.name.filter(|_| self.interest.names).map(shown),
            outcome,
            bytes_in: of.bytes,
            took: waited,
            ..AuditRecord::event(AuditKind::Approval, Arc::clone(&self.subject))
        });
    }

    fn record_of(&self, call: HostCall, denied: bool, count: u64) -> AuditRecord {
        let kind = if denied { AuditKind::Denied } else { AuditKind::HostCall };
        AuditRecord {
            count,
            function: Some(call.function),
            asked: call.asked,
            outcome: call.outcome,
            bytes_in: call.bytes_in,
            bytes_out: call.bytes_out,
            took: call.took,
            ..AuditRecord::event(kind, Arc::clone(&self.subject))
        }
    }

    fn denials(&self) -> MutexGuard<'_, Repeats> {
        self.denials.lock()
    }

    fn tell(&self, outcome: AuditOutcome) {
        let repeated = self.denials().take();
        for (call, count) in repeated {
            self.sink.record(self.record_of(call, true, count));
        }
        self.sink.record(AuditRecord {
            outcome,
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            memory_bytes: Some(self.memory_bytes.load(Relaxed)).filter(|bytes| *bytes > 0),
            arguments: self.arguments.get().cloned(),
            took: self.began.elapsed(),
            ..AuditRecord::event(self.kind, Arc::clone(&self.subject))
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
    use super::*;
    use crate::{Context, TenantId, audit::AuditId};

    #[derive(Default)]
    struct Kept {
        records: Mutex<Vec<AuditRecord>>,
        interest: AuditInterest,
    }

    impl AuditSink for Kept {
        fn record(&self, record: AuditRecord) {
            self.records.lock().push(record);
        }

        fn interest(&self) -> AuditInterest {
            self.interest
        }
    }

    fn begin(sink: &Arc<Kept>) -> RunningCall {
        let subject = AuditSubject {
            context: Some(Context::new(TenantId::local(), "s".parse().expect("legal"))),
            tool: "t".into(),
            ..AuditSubject::outside_calls(AuditId { host: 0xabc, number: 7 })
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
        let told: Vec<_> = sink.records.lock().iter().map(|record| record.outcome.as_str()).collect();
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
        let kinds: Vec<_> = sink.records.lock().iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [AuditKind::Denied]);
    }

    #[test]
    fn the_same_denial_is_told_once_and_then_counted() {
        let sink = Arc::new(Kept { interest: AuditInterest { host_calls: false, names: false }, ..Kept::default() });
        let call = begin(&sink);
        let denied = || host_call(AuditOutcome::Failed(Code::Denied));
        (0..1_000).for_each(|_| call.audit().host_call(denied()));
        call.audit().host_call(HostCall { asked: Some("git".into()), ..denied() });
        assert_eq!(sink.records.lock().len(), 2, "nothing is told twice meanwhile");
        call.ended(AuditOutcome::Ok);
        let records = sink.records.lock();
        let told: Vec<_> = records.iter().map(|record| (record.kind, record.asked.as_deref(), record.count)).collect();
        assert_eq!(
            told,
            [
                (AuditKind::Denied, None, 1),
                (AuditKind::Denied, Some("git"), 1),
                (AuditKind::Denied, None, 999),
                (AuditKind::Call, None, 1),
            ]
        );
        assert_eq!(records[2].bytes_in, 999, "sizes are those of all of them");
    }
}
