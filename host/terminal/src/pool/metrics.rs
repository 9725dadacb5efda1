//! Counts of terminals, turns and failures since the host began.
//!
//! Never knows any one terminal.

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;

use wharf_completion::detection::Endings;

use crate::{CloseReason, TerminalError};

/// The upper bounds of the response times that are counted together, in
/// milliseconds; what took longer is counted behind them.
pub const RESPONSE_BUCKETS_MILLISECONDS: [u64; 7] = [100, 500, 1_000, 5_000, 15_000, 60_000, 300_000];

/// The upper bounds of the lives of terminals that are counted together, in
/// seconds.
pub const LIFE_BUCKETS_SECONDS: [u64; 7] = [1, 10, 60, 300, 900, 3_600, 86_400];

/// Counts since the host began, and the present figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TerminalMetrics {
    /// Terminals that are open now.
    pub open: u64,
    /// Of these, those with a turn that runs.
    pub busy: u64,
    /// Terminals that were opened.
    pub opened: u64,
    /// Terminals that are closed, for whatever reason.
    pub closed: u64,
    /// Closed to make room for one of the same owner.
    pub replaced: u64,
    /// Closed to make room for one of another owner of the same tenant.
    pub evicted: u64,
    /// Closed since nobody used them.
    pub idle: u64,
    /// Closed since they were open for as long as they may.
    pub expired: u64,
    /// Programs that crashed.
    pub crashes: u64,
    /// Programs that were started again.
    pub restarts: u64,
    /// Terminals that were closed since their program crashed too often.
    pub given_up: u64,
    /// Closed by their owner.
    pub by_owner: u64,
    /// Closed by the operator.
    pub by_operator: u64,
    /// Ended since their workspace had more than it may.
    pub over_quota: u64,
    /// Terminals that were lost with an earlier host and taken over; they were
    /// opened there, and are in no other count but `closed`.
    pub host_lost: u64,
    /// Terminals whose program ended by itself, and was not started again.
    pub by_themselves: u64,
    /// Milliseconds that closed terminals were open, together.
    pub open_milliseconds: u64,
    /// How many of them were open at most as long as each bound of
    /// [`LIFE_BUCKETS_SECONDS`] and longer than the one before; the last longer
    /// than all.
    pub lives: [u64; LIFE_BUCKETS_SECONDS.len() + 1],
    /// The answers to what was sent.
    pub responses: TurnResponseTimes,
    /// What went wrong.
    pub errors: TerminalFailureCounts,
}

/// How long answers took, from the input until the turn was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TurnResponseTimes {
    /// How many there were.
    pub count: u64,
    /// Of these, turns that were given up.
    pub cancelled: u64,
    /// Milliseconds that they took, together.
    pub milliseconds: u64,
    /// Milliseconds of the longest.
    pub longest_milliseconds: u64,
    /// How many took at most as long as each bound of
    /// [`RESPONSE_BUCKETS_MILLISECONDS`] and longer than the one before; the
    /// last took longer than all.
    pub buckets: [u64; RESPONSE_BUCKETS_MILLISECONDS.len() + 1],
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TerminalFailureCounts {
    /// Programs that could not be started.
    pub start: u64,
    /// Terminals for which there was no room.
    pub full: u64,
    /// Inputs that were refused for what they are.
    pub input: u64,
    /// Inputs that came while a turn ran.
    pub busy: u64,
    /// Any other.
    pub other: u64,
}

/// Keeps the counts.
#[derive(Debug, Default)]
pub(crate) struct TerminalCounters {
    metrics: Mutex<TerminalMetrics>,
    /// How turns ended.
    pub(crate) turns: Endings,
}

impl TerminalCounters {
    fn counts(&self) -> MutexGuard<'_, TerminalMetrics> {
        // A count is changed as a whole.
        self.metrics.lock()
    }

    pub(crate) fn now(&self, open: usize, busy: usize) -> TerminalMetrics {
        TerminalMetrics { open: open as u64, busy: busy as u64, ..*self.counts() }
    }

    pub(crate) fn opened(&self) {
        self.counts().opened += 1;
    }

    pub(crate) fn closed(&self, why: Option<CloseReason>, open: Duration) {
        let mut counts = self.counts();
        counts.closed += 1;
        counts.open_milliseconds += milliseconds(open);
        counts.lives[LIFE_BUCKETS_SECONDS.partition_point(|bound| Duration::from_secs(*bound) < open)] += 1;
        match why {
            Some(CloseReason::Replaced) => counts.replaced += 1,
            Some(CloseReason::Evicted) => counts.evicted += 1,
            Some(CloseReason::Idle) => counts.idle += 1,
            Some(CloseReason::TimeLimit) => counts.expired += 1,
            Some(CloseReason::Crashes) => counts.given_up += 1,
            Some(CloseReason::Owner) => counts.by_owner += 1,
            Some(CloseReason::Operator) => counts.by_operator += 1,
            Some(CloseReason::Quota) => counts.over_quota += 1,
            None => counts.by_themselves += 1,
            Some(CloseReason::ShuttingDown | CloseReason::HostLost) => {}
        }
    }

    pub(crate) fn lost(&self) {
        let mut counts = self.counts();
        counts.closed += 1;
        counts.host_lost += 1;
    }

    pub(crate) fn crashed(&self) {
        self.counts().crashes += 1;
    }

    pub(crate) fn restarted(&self) {
        self.counts().restarts += 1;
    }

    pub(crate) fn answered(&self, after: Duration, cancelled: bool) {
        let after = milliseconds(after);
        let mut counts = self.counts();
        let responses = &mut counts.responses;
        responses.count += 1;
        responses.cancelled += u64::from(cancelled);
        responses.milliseconds += after;
        responses.longest_milliseconds = responses.longest_milliseconds.max(after);
        let bucket = RESPONSE_BUCKETS_MILLISECONDS.partition_point(|bound| *bound < after);
        responses.buckets[bucket] += 1;
    }

    /// Counts an error and hands it on.
    pub(crate) fn failed(&self, error: TerminalError) -> TerminalError {
        let mut counts = self.counts();
        let errors = &mut counts.errors;
        *match &error {
            TerminalError::Start { .. } => &mut errors.start,
            TerminalError::Full { .. } => &mut errors.full,
            TerminalError::Input(_) | TerminalError::Key(_) => &mut errors.input,
            TerminalError::Busy { .. } => &mut errors.busy,
            _ => &mut errors.other,
        } += 1;
        drop(counts);
        error
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_how_long_they_took() {
        let counters = TerminalCounters::default();
        for milliseconds in [0, 100, 101, 300_000, 300_001] {
            counters.answered(Duration::from_millis(milliseconds), false);
        }
        let responses = counters.now(0, 0).responses;
        assert_eq!(responses.buckets, [2, 1, 0, 0, 0, 0, 1, 1]);
        assert_eq!((responses.count, responses.longest_milliseconds), (5, 300_001));
    }
}
