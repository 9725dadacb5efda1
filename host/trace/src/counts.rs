//! How many spans are queued, sent and dropped, and when the operator hears of it.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// The shortest time between two warnings that a collector takes nothing.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The number of spans of one sink by what became of them.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    queued: AtomicUsize,
    sent: AtomicU64,
    dropped: AtomicU64,
    // A blocking lock suffices: its holder only reads a clock.
    outage: Mutex<Outage>,
}

#[derive(Debug, Default)]
struct Outage {
    /// The log has a warning of this outage.
    is_reported: bool,
    reported_at: Option<Instant>,
}

impl SpanCounts {
    /// Reserves room in the queue for one span, or counts it as dropped.
    pub(crate) fn reserve(&self, capacity: usize) -> bool {
        let taken = self.queued.fetch_update(Relaxed, Relaxed, |queued| (queued < capacity).then_some(queued + 1));
        if taken.is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
        taken.is_ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queued.load(Relaxed) == 0
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Counts spans that the collector took.
    pub(crate) fn delivered(&self, spans: usize) {
        self.queued.fetch_sub(spans, Relaxed);
        self.sent.fetch_add(spans as u64, Relaxed);
        self.outage.lock().is_reported = false;
    }

    /// Counts spans that the collector did not take. True where a warning is due: one for
    /// each outage of the collector.
    pub(crate) fn lost(&self, spans: usize) -> bool {
        self.queued.fetch_sub(spans, Relaxed);
        self.dropped.fetch_add(spans as u64, Relaxed);
        let mut outage = self.outage.lock();
        // A collector that comes and goes must not fill the log either.
        let warn = !outage.is_reported && outage.reported_at.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
        if warn {
            *outage = Outage { is_reported: true, reported_at: Some(Instant::now()) };
        }
        warn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_once_and_each_span_counted() {
        let counts = SpanCounts::default();
        for _ in 0..10 {
            assert!(counts.reserve(10));
        }
        assert!(!counts.reserve(10));
        assert!(counts.lost(3));
        assert!(!counts.lost(3));
        counts.delivered(4);
        assert!(!counts.reserve(0));
        assert!(counts.is_empty());
        assert_eq!((counts.sent(), counts.dropped()), (4, 8));
        assert!(counts.reserve(10) && !counts.lost(1), "it went away again at once");
    }
}
