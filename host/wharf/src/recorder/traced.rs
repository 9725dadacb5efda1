//! A call that is traced: what the audit is told of it becomes spans on the way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use parking_lot::Mutex;
use wharf_core::{
    Context,
    audit::{AuditInterest, AuditKind, AuditOutcome, AuditRecord, AuditSink, AuditSubject},
    trace::{RunningSpan, Span, SpanContext, SpanKind, TraceParent, Tracer},
};

/// Spans of what one call asked the host for, at most; the call's own says how many
/// more there were.
pub(super) const MAX_HOST_CALLS: u64 = 256;

/// One call on its way to the sink that keeps the lines.
pub(super) struct TracedCall {
    sink: Arc<dyn AuditSink>,
    tracer: Tracer,
    context: SpanContext,
    // A blocking lock: held to take it out, once.
    running: Mutex<Option<RunningSpan>>,
    host_calls: AtomicU64,
}

impl TracedCall {
    /// Begins the span of a call, where it is to be kept. `known_as` is the name of a
    /// tool that there is, or the host's word for what is asked.
    pub(super) fn begin(
        sink: &Arc<dyn AuditSink>,
        tracer: &Tracer,
        kind: AuditKind,
        subject: &AuditSubject,
        known_as: Option<&str>,
        parent: Option<&TraceParent>,
    ) -> Option<Self> {
        let mut running = tracer.begin(SpanKind::Internal, parent);
        let context = running.context()?.clone();
        running.describe(|span| {
            match (kind, known_as) {
                (AuditKind::Call, Some(name)) => span.rename(&format!("execute_tool {name}")),
                // A tool that does not exist gives a span no name.
                (AuditKind::Call, None) => span.rename("execute_tool"),
                (_, name) => span.rename(name.unwrap_or(kind.as_str())),
            }
            if kind == AuditKind::Call {
                span.set("gen_ai.tool.name", known_as.unwrap_or(&subject.tool));
                // The request that it belongs to says so itself.
                if !matches!(parent, Some(TraceParent::Span(_))) {
                    span.set("gen_ai.operation.name", "execute_tool");
                }
            }
            tell_subject(span, subject);
        });
        let (sink, tracer) = (Arc::clone(sink), tracer.clone());
        Some(Self { sink, tracer, context, running: Mutex::new(Some(running)), host_calls: AtomicU64::new(0) })
    }

    fn host_call(&self, record: &AuditRecord) {
        if self.host_calls.fetch_add(record.count, Relaxed) >= MAX_HOST_CALLS {
            return;
        }
        let function = record.function.as_deref().unwrap_or_default();
        let capability = function.split('.').next().unwrap_or_default();
        // An HTTP request leaves this machine, so its span is a client's.
        let kind = if capability == "http" { SpanKind::Client } else { SpanKind::Internal };
        self.tracer.tell(kind, &self.context, (record.time, record.took), |span| {
            span.rename(function);
            span.set("wharf.capability", capability);
            if let Some(asked) = &record.asked {
                span.set("wharf.asked", &**asked);
            }
            if let Some(plugin) = &record.subject.plugin {
                span.set("wharf.plugin", plugin.as_str());
            }
            tell_end(span, record);
        });
    }

    fn ended(&self, record: &AuditRecord) {
        let Some(mut running) = self.running.lock().take() else { return };
        running.describe(|span| {
            tell_end(span, record);
            let host_calls = self.host_calls.load(Relaxed);
            span.set("wharf.host_calls", host_calls);
            if host_calls > MAX_HOST_CALLS {
                span.set("wharf.host_calls.dropped", host_calls - MAX_HOST_CALLS);
            }
        });
        running.end();
    }
}

impl AuditSink for TracedCall {
    fn record(&self, mut record: AuditRecord) {
        match record.kind {
            AuditKind::HostCall | AuditKind::Denied => self.host_call(&record),
            _ => self.ended(&record),
        }
        // Spans want more than the sink that keeps the lines may want.
        let wanted = self.sink.interest();
        if record.kind == AuditKind::HostCall && !wanted.host_calls {
            return;
        }
        if !wanted.names {
            record.asked = None;
        }
        record.trace = Some(self.context.trace);
        self.sink.record(record);
    }

    fn interest(&self) -> AuditInterest {
        AuditInterest::default()
    }
}

/// Says who called what.
fn tell_subject(span: &mut Span, subject: &AuditSubject) {
    span.set("wharf.call", subject.id.to_string().as_str());
    if let Some(plugin) = &subject.plugin {
        span.set("wharf.plugin", plugin.as_str());
    }
    if let Some(digest) = &subject.digest {
        span.set("wharf.digest", digest.to_string().as_str());
    }
    if let Some(Context { tenant, session, assistant, thread, .. }) = &subject.context {
        span.set("wharf.tenant", tenant.as_str());
        span.set("wharf.session", session.as_str());
        if let Some(assistant) = assistant {
            span.set("wharf.assistant", assistant.as_str());
        }
        if let Some(thread) = thread {
            span.set("wharf.thread", thread.as_str());
        }
    }
}

/// Says how something ended.
fn tell_end(span: &mut Span, record: &AuditRecord) {
    span.set("wharf.outcome", record.outcome.as_str());
    span.set("wharf.bytes_in", record.bytes_in);
    span.set("wharf.bytes_out", record.bytes_out);
    if let Some(bytes) = record.memory_bytes {
        span.set("wharf.memory_bytes", bytes);
    }
    match record.outcome {
        AuditOutcome::Failed(code) => span.fail(code.as_str()),
        AuditOutcome::ToolError => span.fail("tool_error"),
        // It goes on in the next round, or it is over.
        _ => {}
    }
}

/// Tells of a change of the plugins, which belongs to no request.
pub(super) fn change(tracer: &Tracer, record: &AuditRecord) {
    let began = record.time.checked_sub(record.took).unwrap_or(record.time);
    let mut running = tracer.begin(SpanKind::Internal, None);
    running.describe(|span| {
        span.began = began;
        let word = record.function.as_deref().unwrap_or_default();
        span.rename(&format!("plugin {word}"));
        span.set("wharf.change", word);
        tell_subject(span, &record.subject);
        span.set("wharf.outcome", record.outcome.as_str());
        if let AuditOutcome::Failed(code) = record.outcome {
            span.fail(code.as_str());
        }
    });
    running.end_after(record.took);
}
