//! How a process was polled.

use std::{sync::PoisonError, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use wharf_contract::process;

use super::{Processes, process::Process};
use crate::{Owner, ProcessError, ProcessId, polls::Intervals};

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
    /// The same in the shape of the contract.
    #[must_use]
    pub fn told(&self) -> process::PollStatistics {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        process::PollStatistics {
            first_in_a_row: self.first_consecutive.map(time),
            in_a_row: self.consecutive,
            intervals: self.intervals.map(|intervals| process::PollIntervals {
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

impl Processes {
    /// How a process was polled so far. Asking for it is no poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub fn statistics(&self, owner: &Owner, id: ProcessId) -> Result<PollStatistics, ProcessError> {
        Ok(self.find(owner, id)?.statistics())
    }
}

impl Process {
    pub(super) fn statistics(&self) -> PollStatistics {
        // On the clock that never goes back, from the start on.
        let time = |ran: Duration| self.started + ran;
        let polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        PollStatistics {
            polls: polls.total(),
            last: polls.last().map(time),
            consecutive: polls.consecutive(),
            first_consecutive: polls.first_consecutive().map(time),
            intervals: polls.intervals(),
        }
    }
}
