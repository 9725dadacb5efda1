//! What became of spans.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// How often the operator is told at most that a collector takes nothing.
const COMPLAINT: Duration = Duration::from_secs(60);

/// What became of the spans of one sink.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    queued: AtomicUsize,
    sent: AtomicU64,
    dropped: AtomicU64,
    // A lock of the standard library: held for a look at a clock.
    outage: Mutex<Outage>,
}

#[derive(Debug, Default)]
struct Outage {
    /// The operator knows of it.
    is_told: bool,
    told: Option<Instant>,
}

impl Counts {
    /// Takes a place in the queue; counts what finds none.
    pub(crate) fn has_room(&self, capacity: usize) -> bool {
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

    /// So many were delivered.
    pub(crate) fn delivered(&self, spans: usize) {
        self.queued.fetch_sub(spans, Relaxed);
        self.sent.fetch_add(spans as u64, Relaxed);
        self.outage.lock().unwrap_or_else(PoisonError::into_inner).is_told = false;
    }

    /// So many could not be. Whether the operator should be told: once for each time that
    /// the collector is away.
    pub(crate) fn lost(&self, spans: usize) -> bool {
        self.queued.fetch_sub(spans, Relaxed);
        self.dropped.fetch_add(spans as u64, Relaxed);
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        // One that comes and goes is no reason to fill the log either.
        let tell = !outage.is_told && outage.told.is_none_or(|told| told.elapsed() >= COMPLAINT);
        if tell {
            *outage = Outage { is_told: true, told: Some(Instant::now()) };
        }
        tell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_once_and_each_span_counted() {
        let counts = Counts::default();
        for _ in 0..10 {
            assert!(counts.has_room(10));
        }
        assert!(!counts.has_room(10));
        assert!(counts.lost(3));
        assert!(!counts.lost(3));
        counts.delivered(4);
        assert!(!counts.has_room(0));
        assert!(counts.is_empty());
        assert_eq!((counts.sent(), counts.dropped()), (4, 8));
        assert!(counts.has_room(10) && !counts.lost(1), "it went away again at once");
    }
}
