//! Asking how a process does: each question counts, and a caller that asks too often
//! gets advice.
//!
//! Owns what a poll answers. How polls are judged is `completion`'s.

use std::time::Duration;

use super::{Processes, process::Process};
use crate::{
    Owner, ProcessError, ProcessId, ProcessSnapshot, Status,
    output::OutputPiece,
    polls::{Guidance, GuidanceEffect, Language, PollMetrics, PollSettings, PollStatistics, PollTotals, PolledStatus},
};

/// What a poll found.
#[derive(Debug)]
pub struct PollReport {
    /// The process.
    pub process: ProcessSnapshot,
    /// The last lines of its standard output.
    pub stdout: OutputPiece,
    /// The last lines of its standard error.
    pub stderr: OutputPiece,
    /// What to do instead of polling so often.
    pub guidance: Option<Guidance>,
}

impl Processes {
    /// Asks how a process does, with the last `lines` lines of each stream in
    /// at most `max_bytes` each. Counts as a poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else, in
    /// which case nothing is counted; or where its output cannot be read.
    pub async fn poll(
        &self,
        owner: &Owner,
        id: ProcessId,
        lines: usize,
        max_bytes: usize,
    ) -> Result<PollReport, ProcessError> {
        let process = self.find(owner, id)?;
        let snapshot = process.snapshot().await;
        let guidance = self.count_poll(&process, snapshot.status);
        let stdout = process.stdout.tail(lines, max_bytes).map_err(Self::unreadable)?;
        let stderr = process.stderr.tail(lines, max_bytes).map_err(Self::unreadable)?;
        Ok(PollReport { process: snapshot, stdout, stderr, guidance })
    }

    /// How a process was polled so far. Asking for it is no poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub fn statistics(&self, owner: &Owner, id: ProcessId) -> Result<PollStatistics, ProcessError> {
        Ok(self.find(owner, id)?.poll_statistics())
    }

    /// The totals of polls and advice so far.
    #[must_use]
    pub fn poll_totals(&self) -> PollTotals {
        self.metrics.totals()
    }

    /// What advice in one language did so far.
    #[must_use]
    pub fn guidance_effect(&self, language: Language) -> GuidanceEffect {
        self.metrics.effect(language)
    }

    pub(super) fn count_poll(&self, process: &Process, status: Status) -> Option<Guidance> {
        process.count_poll(status, &self.poll_settings(&process.owner), &self.metrics)
    }

    /// How the polls of an owner are judged.
    pub(crate) fn poll_settings(&self, owner: &Owner) -> PollSettings {
        self.settings.polls.of(&owner.tenant, &owner.session)
    }
}

impl Process {
    pub(super) fn poll_statistics(&self) -> PollStatistics {
        // On the clock that never goes back, from the start on.
        let time = |ran: Duration| self.started + ran;
        let polls = self.polls.lock();
        PollStatistics {
            polls: polls.total(),
            last: polls.last().map(time),
            consecutive: polls.consecutive(),
            first_consecutive: polls.first_consecutive().map(time),
            intervals: polls.intervals(),
        }
    }

    fn count_poll(&self, status: Status, settings: &PollSettings, metrics: &PollMetrics) -> Option<Guidance> {
        let mut polls = self.polls.lock();
        polls.record(self.began.elapsed(), PolledStatus(status), settings, metrics)
    }
}
