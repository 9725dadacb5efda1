//! Polls of processes: counted and judged by the rules that hold for whatever is
//! polled.

pub use wharf_completion::polls::{
    Guidance, GuidanceEffect, Intervals, Language, MAX_TEXT_BYTES, PollMetrics, PollOverride, PollRules, PollSettings,
    PollTotals, Polled, Subject,
};

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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_polls_of_a_process_take_at_most_200_bytes() {
        assert!(size_of::<Mutex<Polls>>() <= 200, "{}", size_of::<Mutex<Polls>>());
    }
}
