//! Totals of polls and advice over all processes of a host.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use super::Language;

/// Counts polls as they happen; exact under concurrent updates.
#[derive(Debug, Default)]
pub struct PollMetrics {
    polls: AtomicU64,
    /// One for each language of [`Language::ALL`].
    effects: [Effect; Language::ALL.len()],
    episodes: AtomicU64,
    long_with_guidance: AtomicU64,
    long_without_guidance: AtomicU64,
}

/// What advice in one language did.
#[derive(Debug, Default)]
struct Effect {
    guidance: AtomicU64,
    measured: AtomicU64,
    grown: AtomicU64,
    milliseconds_before: AtomicU64,
    milliseconds_after: AtomicU64,
}

/// What advice in one language did, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct GuidanceEffect {
    /// Advice that was given.
    pub guidance: u64,
    /// How often another poll followed advice, so that its effect was seen.
    pub intervals_after_guidance: u64,
    /// How many of those intervals were longer than the mean before.
    pub intervals_grown: u64,
    /// The means before advice, added up over those that were seen.
    pub milliseconds_before: u64,
    /// The intervals after it, added up.
    pub milliseconds_after: u64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PollTotals {
    /// Polls.
    pub polls: u64,
    /// Advice that was given.
    pub guidance: u64,
    /// How often another poll followed advice, so that its effect was seen.
    pub intervals_after_guidance: u64,
    /// How many of those intervals were longer than the mean before.
    pub intervals_grown: u64,
    /// The means before advice, added up over those that were seen.
    pub milliseconds_before: u64,
    /// The intervals after it, added up.
    pub milliseconds_after: u64,
    /// Episodes of two or more polls in a row.
    pub episodes: u64,
    /// Episodes of more than 10, in which advice was given.
    pub long_episodes_with_guidance: u64,
    /// Episodes of more than 10, in which none was.
    pub long_episodes_without_guidance: u64,
}

impl PollMetrics {
    /// The counts now.
    #[must_use]
    pub fn totals(&self) -> PollTotals {
        let effects = self.effects.each_ref().map(Effect::now);
        let sum = |of: fn(&GuidanceEffect) -> u64| effects.iter().map(of).sum();
        PollTotals {
            polls: self.polls.load(Relaxed),
            guidance: sum(|effect| effect.guidance),
            intervals_after_guidance: sum(|effect| effect.intervals_after_guidance),
            intervals_grown: sum(|effect| effect.intervals_grown),
            milliseconds_before: sum(|effect| effect.milliseconds_before),
            milliseconds_after: sum(|effect| effect.milliseconds_after),
            episodes: self.episodes.load(Relaxed),
            long_episodes_with_guidance: self.long_with_guidance.load(Relaxed),
            long_episodes_without_guidance: self.long_without_guidance.load(Relaxed),
        }
    }

    /// What advice in this language did so far.
    #[must_use]
    pub fn effect(&self, language: Language) -> GuidanceEffect {
        self.of(language).now()
    }

    fn of(&self, language: Language) -> &Effect {
        let [english, korean] = &self.effects;
        match language {
            Language::English => english,
            Language::Korean => korean,
        }
    }

    pub(super) fn polled(&self) {
        self.polls.fetch_add(1, Relaxed);
    }

    pub(super) fn guided(&self, language: Language) {
        self.of(language).guidance.fetch_add(1, Relaxed);
    }

    pub(super) fn episode(&self) {
        self.episodes.fetch_add(1, Relaxed);
    }

    pub(super) fn long_episode(&self, guided: bool) {
        let count = if guided { &self.long_with_guidance } else { &self.long_without_guidance };
        count.fetch_add(1, Relaxed);
    }

    pub(super) fn interval_after_guidance(&self, language: Language, before_seconds: f64, after_seconds: f64) {
        let effect = self.of(language);
        effect.measured.fetch_add(1, Relaxed);
        if after_seconds > before_seconds {
            effect.grown.fetch_add(1, Relaxed);
        }
        effect.milliseconds_before.fetch_add(milliseconds(before_seconds), Relaxed);
        effect.milliseconds_after.fetch_add(milliseconds(after_seconds), Relaxed);
    }
}

impl Effect {
    fn now(&self) -> GuidanceEffect {
        GuidanceEffect {
            guidance: self.guidance.load(Relaxed),
            intervals_after_guidance: self.measured.load(Relaxed),
            intervals_grown: self.grown.load(Relaxed),
            milliseconds_before: self.milliseconds_before.load(Relaxed),
            milliseconds_after: self.milliseconds_after.load(Relaxed),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1_000.0).round() as u64
}
