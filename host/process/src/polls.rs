//! Polls of processes: counted and judged by the rules that hold for everything that
//! can be polled.

pub use wharf_completion::polls::{
    Guidance, GuidanceEffect, Intervals, Language, MAX_TEXT_BYTES, PollMetrics, PollOverride, PollRules, PollSettings,
    PollTotals, Polled, Subject,
};

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use wharf_contract::process as contract;

use crate::Status;

/// The polls of one process.
pub type Polls = wharf_completion::polls::Polls<PolledStatus>;

/// How a poll found a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolledStatus(pub Status);

impl Polled for PolledStatus {
    const SUBJECT: Subject = Subject::Process;

    fn runs(self) -> bool {
        self.0 == Status::Running
    }
}

/// The polls of one process so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PollStatistics {
    /// How many there were, ever.
    pub polls: u64,
    /// When the last one was.
    pub last: Option<DateTime<Utc>>,
    /// How many in a row found it running.
    pub consecutive: u32,
    /// When the first of those was.
    pub first_consecutive: Option<DateTime<Utc>>,
    /// The intervals between those, where there are two or more.
    pub intervals: Option<Intervals>,
}

impl PollStatistics {
    /// The same in the words of the contract.
    #[must_use]
    pub fn to_contract(&self) -> contract::PollStatistics {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        contract::PollStatistics {
            first_in_a_row: self.first_consecutive.map(time),
            in_a_row: self.consecutive,
            intervals: self.intervals.map(|intervals| contract::PollIntervals {
                count: intervals.count,
                deviation_milliseconds: whole(intervals.deviation),
                mean_milliseconds: whole(intervals.mean),
                shortest_milliseconds: whole(intervals.shortest),
            }),
            last: self.last.map(time),
            total: self.polls,
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn the_polls_of_a_process_take_at_most_200_bytes() {
        assert!(size_of::<Mutex<Polls>>() <= 200, "{}", size_of::<Mutex<Polls>>());
    }
}
