//! Terminals, and the ends of turns and streams.
//!
//! Their backends count; here it is only written.

use std::{collections::BTreeMap, fmt};

use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, NoLabelSet},
    metrics::{MetricType, counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use wharf_completion::Streams;
use wharf_contract::terminal::CloseReason;
use wharf_terminal::{LIFE_BUCKETS_SECONDS, RESPONSE_BUCKETS_MILLISECONDS, TerminalMetrics, Terminals};

use super::values::{by, count, counter, gauge};

/// Counts that somebody else keeps, by how long something took.
#[derive(Debug)]
struct Durations {
    seconds: f64,
    /// The upper end of each step in seconds, and what is in it alone.
    steps: Vec<(f64, u64)>,
}

impl Durations {
    /// `bounds` are in the same unit as `total`; `per_second` of it are a second.
    fn new(total: u64, bounds: &[u64], counts: &[u64], per_second: u32) -> Self {
        let seconds = |amount: u64| {
            #[expect(clippy::cast_precision_loss, reason = "a sum for people and graphs")]
            let amount = amount as f64;
            amount / f64::from(per_second)
        };
        let ends = bounds.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
        Self { seconds: seconds(total), steps: ends.zip(counts.iter().copied()).collect() }
    }
}

impl EncodeMetric for Durations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let all = self.steps.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(self.seconds, all, &self.steps, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Terminals as they are now.
pub(super) fn terminals(registry: &mut Registry, terminals: &Terminals) {
    let now @ TerminalMetrics { responses, errors, .. } = terminals.metrics();
    gauge(registry, "terminals_open", "Terminals that are open", now.open);
    gauge(registry, "terminals_busy", "Of these, those with a turn that runs", now.busy);
    counter(registry, "terminals_opened", "Terminals that were opened", now.opened);
    let closed = [
        ("itself", now.by_themselves),
        (CloseReason::Owner.as_str(), now.by_owner),
        (CloseReason::Operator.as_str(), now.by_operator),
        (CloseReason::Quota.as_str(), now.over_quota),
        (CloseReason::Replaced.as_str(), now.replaced),
        (CloseReason::Evicted.as_str(), now.evicted),
        (CloseReason::Idle.as_str(), now.idle),
        (CloseReason::TimeLimit.as_str(), now.expired),
        (CloseReason::Crashes.as_str(), now.given_up),
        (CloseReason::HostLost.as_str(), now.host_lost),
    ];
    by(registry, "terminals_closed", "Terminals that are over, by what ended them", "by", &closed);
    counter(registry, "terminal_crashes", "Programs in terminals that crashed", now.crashes);
    counter(registry, "terminal_restarts", "Programs in terminals that were started again", now.restarts);
    let lives =
        Durations::new(now.open_milliseconds, &LIFE_BUCKETS_SECONDS.map(|bound| bound * 1_000), &now.lives, 1_000);
    let help = "How long terminals that are over were open";
    registry.register_with_unit("terminal_life", help, Unit::Seconds, lives);
    let answers = Durations::new(responses.milliseconds, &RESPONSE_BUCKETS_MILLISECONDS, &responses.buckets, 1_000);
    let help = "How long turns of terminals took, from the input until they were over";
    registry.register_with_unit("terminal_response", help, Unit::Seconds, answers);
    let failed = [
        ("start", errors.start),
        ("full", errors.full),
        ("input", errors.input),
        ("busy", errors.busy),
        ("other", errors.other),
    ];
    by(registry, "terminal_errors", "Calls on terminals that failed", "kind", &failed);
}

type Turns = BTreeMap<(&'static str, &'static str), u64>;

/// How turns and streams ended.
pub(super) fn endings(registry: &mut Registry, terminals: Option<&Terminals>, streams: &Streams) {
    let family = Family::<[(&'static str, &'static str); 3], Counter>::default();
    let add = |source: &'static str, turns: Turns| {
        for ((reason, confidence), number) in turns {
            let labels = [("source", source), ("reason", reason), ("confidence", confidence)];
            family.get_or_create(&labels).inc_by(number);
        }
    };
    add("terminal", terminals.map(Terminals::turns_ended).unwrap_or_default());
    add("stream", streams.turns_ended());
    let help = "Turns that are over, by why and how sure that is";
    registry.register("turns_ended", help, family);
    let ended: Vec<_> = streams.streams_ended().into_iter().collect();
    by(registry, "streams_ended", "Streams of events that ended, by why", "by", &ended);
    gauge(registry, "streams_open", "Streams of events that are kept", count(streams.count()));
}
