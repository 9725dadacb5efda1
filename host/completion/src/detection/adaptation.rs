//! How long a source usually takes, and how much silence that excuses.

use std::time::Duration;

use super::{Adaptation, AdaptiveSilence, Parameters};

/// Older turns fade: a source that became slower is known to be after so many.
const REMEMBERED: u32 = 8;

/// The mean response time of the turns so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResponseTimes {
    turns: u32,
    mean: Duration,
}

impl ResponseTimes {
    /// Takes the time of a turn that is known to have been answered; one that
    /// was given up says nothing.
    pub(super) fn observe(&mut self, took: Duration) {
        self.turns = (self.turns + 1).min(REMEMBERED);
        self.mean = self.mean.saturating_mul(self.turns - 1).saturating_add(took) / self.turns;
    }

    /// 1.5 times the mean, as 004 proposes, within bounds.
    fn limit(&self, bounds: Adaptation) -> Option<Duration> {
        (self.turns > 0).then(|| (self.mean.saturating_mul(3) / 2).clamp(bounds.shortest, bounds.longest))
    }

    /// How long silence lasts before it counts, where that adapts.
    pub(super) fn silence(&self, parameters: &Parameters) -> Option<AdaptiveSilence> {
        let bounds = parameters.adaptation?;
        Some(AdaptiveSilence { limit: self.limit(bounds).unwrap_or(parameters.inactivity_timeout), turns: self.turns })
    }
}
