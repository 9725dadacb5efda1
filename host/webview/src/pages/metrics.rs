//! The counters of web pages, for the metrics of the host.

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use wharf_completion::polls::{PollMetrics, PollTotals};

use crate::CloseReason;

/// Counts since the host began, and of the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Metrics {
    /// Pages that are open now.
    pub open: u64,
    /// Pages that are closed and remembered.
    pub remembered: u64,
    /// Requests that are pending now.
    pub pending: u64,
    /// Results that are kept now.
    pub results: u64,
    /// Bytes of them.
    pub result_bytes: u64,
    /// Requests that are remembered as expired.
    pub expired: u64,
    /// Bytes of the logs that are kept now.
    pub log_bytes: u64,
    /// Pages that were opened.
    pub opened: u64,
    /// Pages that were closed, for whatever reason.
    pub closed: u64,
    /// Closed since nobody used them.
    pub idle: u64,
    /// Closed to make room for another one.
    pub evicted: u64,
    /// Closed since their browser ended.
    pub lost: u64,
    /// Scripts and operations that were asked for.
    pub requests: u64,
    /// Of these, those whose backend came to a result.
    pub done: u64,
    /// Of these, those whose backend said that they failed.
    pub failed: u64,
    /// Reports that were late, told twice or forged.
    pub ignored: u64,
    /// Downloads that are in a workspace.
    pub downloads: u64,
    /// Polls of requests, and advice.
    pub polls: PollTotals,
}

/// Keeps the counts.
#[derive(Debug, Default)]
pub(super) struct Counters {
    counts: Mutex<Metrics>,
    pub(super) polls: PollMetrics,
}

impl Counters {
    pub(super) fn counts(&self) -> MutexGuard<'_, Metrics> {
        // A count is changed as a whole.
        self.counts.lock()
    }

    pub(super) fn opened(&self) {
        self.counts().opened += 1;
    }

    pub(super) fn closed(&self, why: CloseReason) {
        let mut counts = self.counts();
        counts.closed += 1;
        match why {
            CloseReason::Idle => counts.idle += 1,
            CloseReason::Evicted => counts.evicted += 1,
            CloseReason::BackendGone => counts.lost += 1,
            CloseReason::Owner | CloseReason::Operator | CloseReason::Crashes | CloseReason::ShuttingDown => {}
        }
    }

    pub(super) fn requested(&self) {
        self.counts().requests += 1;
    }

    pub(super) fn settled(&self, done: bool) {
        let mut counts = self.counts();
        *if done { &mut counts.done } else { &mut counts.failed } += 1;
    }

    pub(super) fn ignored(&self) {
        self.counts().ignored += 1;
    }

    pub(super) fn downloaded(&self) {
        self.counts().downloads += 1;
    }
}
