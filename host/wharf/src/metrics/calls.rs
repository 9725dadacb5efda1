//! What is counted of calls as they end: by plugin, tool and outcome, and
//! denials by plugin and interface.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use prometheus_client::{
    encoding::{EncodeLabelSet, LabelSetEncoder},
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use wharf_core::{
    PluginName,
    audit::{AuditKind, AuditRecord},
};

/// Tools, and pairs of plugin and interface, that are told apart. What comes
/// later, in a host whose plugins change for years, is counted as one.
const MAX_SERIES: usize = 2_000;
/// The name of that one.
const OTHER: &str = "(other)";
/// The name of all tools of front ends.
const FRONT_END: &str = "(front end)";

/// Ends of the steps of memory, in bytes: those of small memories of Rust, of engines of
/// JavaScript, of Python, and up to the limit that is usual.
const MEMORY_STEPS: [f64; 8] =
    [65_536.0, 1_048_576.0, 4_194_304.0, 16_777_216.0, 33_554_432.0, 67_108_864.0, 134_217_728.0, 268_435_456.0];
/// Ends of the steps of times, in seconds.
const STEPS: [f64; 13] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 600.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ToolLabels {
    plugin: Option<PluginName>,
    tool: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CallLabels {
    of: ToolLabels,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct DenialLabels {
    plugin: Option<PluginName>,
    capability: String,
}

/// Both are words of the host's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RefusedLabels {
    reason: String,
    from: String,
}

fn name(plugin: Option<&PluginName>) -> &str {
    plugin.map_or("", PluginName::as_str)
}

impl EncodeLabelSet for ToolLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("plugin", name(self.plugin.as_ref())), ("tool", &*self.tool)].encode(encoder)
    }
}

impl EncodeLabelSet for CallLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        self.of.encode(encoder)?;
        [("outcome", self.outcome)].encode(encoder)
    }
}

impl EncodeLabelSet for DenialLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("plugin", name(self.plugin.as_ref())), ("capability", self.capability.as_str())].encode(encoder)
    }
}

impl EncodeLabelSet for RefusedLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("reason", self.reason.as_str()), ("from", self.from.as_str())].encode(encoder)
    }
}

/// The counters; each host has its own.
#[derive(Debug)]
pub(crate) struct CallMetrics {
    calls: Family<CallLabels, Counter>,
    durations: Family<ToolLabels, Histogram>,
    memory: Family<ToolLabels, Histogram>,
    denials: Family<DenialLabels, Counter>,
    offers: Family<CallLabels, Counter>,
    refused: Family<RefusedLabels, Counter>,
    tools: Series,
    denied: Series,
    offered: Series,
}

/// How many series of a family were made; of two that are made at the very same
/// time, both count.
#[derive(Debug, Default)]
struct Series(AtomicUsize);

impl Series {
    /// Whether one more series may be made.
    fn has_room(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |made| (made < MAX_SERIES).then_some(made + 1)).is_ok()
    }
}

impl Default for CallMetrics {
    fn default() -> Self {
        let durations = Family::new_with_constructor(histogram as fn() -> Histogram);
        let memory = Family::new_with_constructor((|| Histogram::new(MEMORY_STEPS)) as fn() -> Histogram);
        Self {
            calls: Family::default(),
            durations,
            memory,
            denials: Family::default(),
            offers: Family::default(),
            refused: Family::default(),
            tools: Series::default(),
            denied: Series::default(),
            offered: Series::default(),
        }
    }
}

fn histogram() -> Histogram {
    Histogram::new(STEPS)
}

impl CallMetrics {
    /// Counts what happened.
    pub(crate) fn count(&self, record: &AuditRecord) {
        match record.kind {
            AuditKind::Call => self.count_call(record),
            AuditKind::Offer => self.count_offer(record),
            AuditKind::Denied => self.count_denial(record),
            AuditKind::Authentication => self.count_refused(record),
            _ => {}
        }
    }

    fn count_call(&self, record: &AuditRecord) {
        let plugin = record.subject.plugin.clone();
        // The name of a tool that does not exist is text of a client.
        let tool = if plugin.is_some() { Arc::clone(&record.subject.tool) } else { Arc::default() };
        // A front end names its tools itself, and may come back with others for ever.
        let of_front_end = plugin.as_ref() == Some(&PluginName::app()) && tool.contains("__");
        let tool = if of_front_end { FRONT_END.into() } else { tool };
        let mut of = ToolLabels { plugin, tool };
        let took = record.took.as_secs_f64();
        // Nearly every call is of a tool that was called before.
        let is_known = self.durations.get(&of).map(|durations| durations.observe(took)).is_some();
        if !is_known {
            if !self.tools.has_room() {
                of = ToolLabels { plugin: None, tool: OTHER.into() };
            }
            self.durations.get_or_create(&of).observe(took);
        }
        if let Some(bytes) = record.memory_bytes {
            #[expect(clippy::cast_precision_loss, reason = "a step of a histogram")]
            self.memory.get_or_create(&of).observe(bytes as f64);
        }
        self.calls.get_or_create(&CallLabels { of, outcome: record.outcome.as_str() }).inc();
    }

    /// By the host's word alone: the rest is what a client calls it.
    fn count_offer(&self, record: &AuditRecord) {
        let asked = record.subject.tool.split(' ').next().unwrap_or_default().into();
        let mut of = ToolLabels { plugin: record.subject.plugin.clone(), tool: asked };
        let labels = CallLabels { of: of.clone(), outcome: record.outcome.as_str() };
        if self.offers.get(&labels).is_none() && !self.offered.has_room() {
            of = ToolLabels { plugin: None, tool: OTHER.into() };
        }
        self.offers.get_or_create(&CallLabels { of, ..labels }).inc();
    }

    fn count_denial(&self, record: &AuditRecord) {
        let function = record.function.as_deref().unwrap_or_default();
        let capability = function.split('.').next().unwrap_or_default().to_owned();
        let mut labels = DenialLabels { plugin: record.subject.plugin.clone(), capability };
        if self.denials.get(&labels).is_none() && !self.denied.has_room() {
            labels = DenialLabels { plugin: None, capability: OTHER.to_owned() };
        }
        self.denials.get_or_create(&labels).inc_by(record.count);
    }

    fn count_refused(&self, record: &AuditRecord) {
        let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let labels = RefusedLabels { reason: word(record.function.as_deref()), from: word(record.asked.as_deref()) };
        self.refused.get_or_create(&labels).inc_by(record.count);
    }

    /// Hands out the counters for a text.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("calls", "Calls of tools that are over", self.calls.clone());
        registry.register_with_unit(
            "call_duration",
            "How long calls took, from arrival to answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register_with_unit(
            "call_memory",
            "Most linear memory that calls of plugins had",
            Unit::Bytes,
            self.memory.clone(),
        );
        let asked = "What plugins were asked for beside tools; the label `tool` is read, prompt and the like";
        registry.register("offers", asked, self.offers.clone());
        registry.register("denials", "Host calls that were not granted", self.denials.clone());
        registry.register(
            "authentication_failures",
            "Requests over HTTP and of commands that showed no token or secret which opens them",
            self.refused.clone(),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use wharf_core::{
        Code,
        audit::{AuditId, AuditOutcome, AuditSubject, shown},
    };

    use super::*;

    fn record(plugin: Option<&str>, tool: &str, kind: AuditKind) -> AuditRecord {
        AuditRecord {
            time: SystemTime::now(),
            count: 1,
            kind,
            subject: Arc::new(AuditSubject {
                plugin: plugin.map(|plugin| plugin.parse().expect("legal")),
                tool: shown(tool),
                ..AuditSubject::outside_calls(AuditId { host: 1, number: 1 })
            }),
            function: Some("process.spawn".into()),
            asked: None,
            outcome: if kind == AuditKind::Denied { AuditOutcome::Failed(Code::Denied) } else { AuditOutcome::Ok },
            bytes_in: 0,
            bytes_out: 0,
            memory_bytes: Some(1 << 20),
            trace: None,
            arguments: None,
            replaced: None,
            took: Duration::from_millis(2),
        }
    }

    fn text(metrics: &CallMetrics) -> String {
        let mut registry = Registry::with_prefix("wharf");
        metrics.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("encoded");
        text
    }

    #[test]
    fn calls_and_denials_are_counted_by_what_the_operator_named() {
        let metrics = CallMetrics::default();
        metrics.count(&record(Some("echo"), "say", AuditKind::Call));
        metrics.count(&record(Some("echo"), "say", AuditKind::Denied));
        metrics.count(&record(None, "no\"such}\n", AuditKind::Call));
        let text = text(&metrics);
        for line in [
            r#"wharf_calls_total{plugin="echo",tool="say",outcome="ok"} 1"#,
            r#"wharf_calls_total{plugin="",tool="",outcome="ok"} 1"#,
            r#"wharf_call_duration_seconds_bucket{le="0.005",plugin="echo",tool="say"} 1"#,
            r#"wharf_call_memory_bytes_bucket{le="65536.0",plugin="echo",tool="say"} 0"#,
            r#"wharf_call_memory_bytes_bucket{le="1048576.0",plugin="echo",tool="say"} 1"#,
            r#"wharf_denials_total{plugin="echo",capability="process"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("such"), "{text}");
    }

    #[test]
    fn tools_that_front_ends_name_are_counted_as_one() {
        let metrics = CallMetrics::default();
        for name in ["editor__a", "editor__b"] {
            metrics.count(&record(Some("app"), name, AuditKind::Call));
        }
        let text = text(&metrics);
        assert!(text.contains(r#"wharf_calls_total{plugin="app",tool="(front end)",outcome="ok"} 2"#), "{text}");
        assert!(!text.contains("editor"), "{text}");
    }

    #[test]
    fn what_a_client_calls_a_resource_is_no_label() {
        let metrics = CallMetrics::default();
        metrics.count(&record(Some("echo"), "read secret://name", AuditKind::Offer));
        let text = text(&metrics);
        assert!(text.contains(r#"wharf_offers_total{plugin="echo",tool="read",outcome="ok"} 1"#), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn no_number_of_tools_makes_endless_series() {
        let metrics = CallMetrics::default();
        for number in 0..MAX_SERIES + 100 {
            metrics.count(&record(Some("echo"), &format!("t{number}"), AuditKind::Call));
        }
        let text = text(&metrics);
        assert_eq!(text.matches("wharf_calls_total{").count(), MAX_SERIES + 1);
        assert!(text.contains(r#"wharf_calls_total{plugin="",tool="(other)",outcome="ok"} 100"#));
    }
}
