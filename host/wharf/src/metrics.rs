//! Metrics of one host, as Prometheus reads them (OpenMetrics text).
//!
//! What can only be counted when it happens is in `calls`; everything else is
//! asked of the backends when somebody looks. No label names a tenant, a session or
//! anything else that a client chooses. Nothing is global: two hosts in one
//! process count apart.

pub(crate) mod calls;
mod polling;
mod terminals;
mod values;

use prometheus_client::{
    encoding::text,
    metrics::{family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use wharf_core::{Admission, audit::AuditSink as _};
use wharf_engine::Backends;

use self::values::{by, count, counter, gauge, gauge_of};
use crate::{recorder::Recorder, registry};

/// What a moment's metrics are made of.
pub(crate) struct MetricSources<'h> {
    pub(crate) recorder: &'h Recorder,
    pub(crate) admission: &'h Admission,
    pub(crate) backends: &'h Backends,
    pub(crate) plugins: &'h registry::Registry,
    /// Processes that run plugins, where they have their own.
    pub(crate) workers: Option<u64>,
}

impl MetricSources<'_> {
    /// The text of this moment.
    pub(crate) fn text(&self) -> String {
        let mut registry = Registry::with_prefix("wharf");
        registry.register("build", "The version of the host", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        self.recorder.metrics.register(&mut registry);
        self.calls(&mut registry);
        self.backends(&mut registry);
        if let Some(bytes) = resident_bytes() {
            gauge_of(&mut registry, "memory_resident", "Resident memory of the host", bytes, Some(Unit::Bytes));
        }
        let mut written = String::new();
        // Writing into memory cannot fail.
        let _ = text::encode(&mut written, &registry);
        written
    }

    fn calls(&self, registry: &mut Registry) {
        let (running, waiting) = self.admission.load();
        gauge(registry, "calls_running", "Calls that run now", running);
        gauge(registry, "calls_waiting", "Calls that wait for a place", waiting);
        let plugins = Family::<[(&'static str, &'static str); 1], Gauge>::default();
        for (state, number) in [
            ("installed", self.plugins.installed().len()),
            ("rejected", self.plugins.rejected().len()),
            ("off", self.plugins.off().len()),
            ("compiling", self.plugins.plugins().compiling.len()),
        ] {
            plugins.get_or_create(&[("state", state)]).set(i64::try_from(number).unwrap_or(i64::MAX));
        }
        registry.register("plugins", "Plugins by what became of them", plugins);
        if let Some(workers) = self.workers {
            gauge(registry, "plugin_workers", "Processes that run plugins", workers);
        }
        counter(registry, "audit_dropped", "Audit lines that could not be kept", self.recorder.dropped());
        if let Some(copies) = &self.recorder.copies {
            let (sent, unsent) = copies.counts();
            counter(registry, "audit_sent", "Audit lines that went to the log server", sent);
            counter(registry, "audit_unsent", "Audit lines that will not go to the log server", unsent);
        }
        if let Some(tracer) = &self.recorder.tracer {
            counter(registry, "spans_sent", "Spans that the collector has taken", tracer.sink().sent());
            counter(registry, "spans_dropped", "Spans that could not be sent", tracer.sink().dropped());
        }
    }

    fn backends(&self, registry: &mut Registry) {
        if let Some(processes) = &self.backends.processes {
            let (counts, polls) = (processes.counts(), processes.poll_totals());
            gauge(
                registry,
                "processes_running",
                "Processes that start or run",
                count(counts.starting + counts.running),
            );
            gauge(registry, "processes_left_behind", "Ended ones whose children live on", count(counts.left_behind));
            by(registry, "processes_ended", "Processes that have ended", "how", &processes.ends());
            let sessions = count(processes.running_sessions().len());
            gauge(registry, "process_sessions", "Sessions in which a process runs", sessions);
            let bytes = processes.output_disk_bytes();
            let help = "Output of processes that is kept on disk";
            gauge_of(registry, "process_output", help, bytes, Some(Unit::Bytes));
            polling::register(registry, "process", &polls, |language| processes.guidance_effect(language));
        }
        if let Some(terminals) = &self.backends.terminals {
            terminals::terminals(registry, terminals);
        }
        if let Ok(webviews) = &self.backends.webviews {
            let pages = webviews.metrics();
            gauge(registry, "pages_open", "Web pages that are open", pages.open);
            gauge(registry, "page_requests_pending", "Requests of pages that are pending", pages.pending);
            counter(registry, "pages_opened", "Web pages that were opened", pages.opened);
            counter(registry, "page_requests", "Scripts and operations that pages were asked for", pages.requests);
            counter(registry, "page_requests_failed", "Of these, those that failed", pages.failed);
            pages_closed(registry, &pages);
            polling::register(registry, "page_request", &pages.polls, |language| webviews.guidance_effect(language));
        }
        if let Some(workspaces) = &self.backends.workspaces {
            let active = count(workspaces.active().len());
            gauge(registry, "sessions_active", "Sessions whose files were used within half a minute", active);
        }
        terminals::endings(registry, self.backends.terminals.as_deref(), &self.backends.streams);
    }
}

/// Pages that are closed, by what closed them.
fn pages_closed(registry: &mut Registry, pages: &wharf_webview::Metrics) {
    let others = pages.closed.saturating_sub(pages.idle + pages.evicted + pages.lost);
    let counts = [("idle", pages.idle), ("evicted", pages.evicted), ("browser-ended", pages.lost), ("other", others)];
    by(registry, "pages_closed", "Web pages that are closed", "by", &counts);
}

/// Resident memory of this process.
#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(pages.saturating_mul(count(rustix::param::page_size())))
}

/// Other systems are not asked for resident memory.
#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}
