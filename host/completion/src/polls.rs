//! Notices when a caller asks again and again about something that still runs, a
//! process or a request to a web page, and advises what to do instead.
//!
//! Owns the count for one process or request and the rules of advice. It has no clock:
//! all times are handed in, as how long it has run. It never knows the caller, whose
//! right to ask was checked before.

mod guidance;
mod metrics;
mod rules;

use std::time::Duration;

pub use guidance::{Guidance, Language, MAX_TEXT_BYTES, Subject};
pub use metrics::{GuidanceEffect, PollMetrics, PollTotals};
pub use rules::{PollOverride, PollRules};

/// Where something stands that is polled, as a poll sees it: a change starts the
/// count again.
pub trait Polled: Copy + PartialEq {
    /// What is polled.
    const SUBJECT: Subject;

    /// Whether it still runs.
    fn runs(self) -> bool;
}

/// When advice is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollSettings {
    /// Whether advice is given at all; polls are counted either way.
    pub guidance: bool,
    /// How many polls in a row bring the first advice, however fast they come.
    pub threshold: u32,
    /// How many are enough where they come within a second of each other, if
    /// that is to be fewer.
    pub hasty_threshold: Option<u32>,
    /// In which language.
    pub language: Language,
}

impl Default for PollSettings {
    fn default() -> Self {
        Self { guidance: true, threshold: 5, hasty_threshold: None, language: Language::English }
    }
}

/// How long advice holds before it is given again.
const REPEAT_AFTER: Duration = Duration::from_secs(60);
/// Polls that come faster than this are hasty.
const HASTY_INTERVAL: Duration = Duration::from_secs(1);
/// From here on a process or a request is no longer young: each doubling of what
/// lies beyond allows one poll more before advice is repeated.
const YOUNG: Duration = Duration::from_secs(60);
/// An episode of more polls in a row than this is what advice is to prevent.
const LONG_EPISODE: u32 = 10;

/// The polls of one process or request: at most 200 bytes.
#[derive(Debug, Clone)]
pub struct Polls<S> {
    total: u64,
    last: Option<Duration>,
    status: Option<S>,
    streak: Streak,
    /// When advice was last given; it outlives the streak, so that a change of
    /// status does not bring it again at once.
    guided: Option<Duration>,
}

/// Polls in a row that found it running.
#[derive(Debug, Clone, Default)]
struct Streak {
    polls: u32,
    first: Duration,
    shortest: Duration,
    /// Welford's running mean and sum of squared distances, in seconds.
    mean: f64,
    squares: f64,
    guided: bool,
    /// The mean before advice whose effect the next interval shows, in
    /// seconds, and the language of that advice.
    before_guidance: Option<(f64, Language)>,
}

/// Intervals between polls in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Intervals {
    /// How many there are.
    pub count: u32,
    /// Their mean.
    pub mean: Duration,
    /// Their standard deviation.
    pub deviation: Duration,
    /// The shortest.
    pub shortest: Duration,
}

impl<S> Default for Polls<S> {
    fn default() -> Self {
        Self { total: 0, last: None, status: None, streak: Streak::default(), guided: None }
    }
}

impl<S: Polled> Polls<S> {
    /// Counts a poll that came when it had run for `ran` and found it in
    /// `status`. Returns advice where it is due.
    pub fn record(
        &mut self,
        ran: Duration,
        status: S,
        settings: &PollSettings,
        metrics: &PollMetrics,
    ) -> Option<Guidance> {
        // Threads that ask at once may arrive out of order by a hair.
        let ran = self.last.map_or(ran, |last| last.max(ran));
        let before = self.last.replace(ran);
        self.total += 1;
        metrics.polled();
        if self.status.replace(status) != Some(status) {
            self.streak = Streak::default();
        }
        if !status.runs() {
            return None;
        }
        let interval = if self.streak.polls == 0 { None } else { before.map(|before| ran.saturating_sub(before)) };
        self.streak.count(ran, interval, metrics);
        let first = settings.first_after(self.streak.is_hasty());
        let due = settings.guidance
            && match self.guided {
                None => self.streak.polls >= first,
                Some(guided) => {
                    let enough = first.saturating_add(further_polls(ran));
                    self.streak.polls >= enough && ran.saturating_sub(guided) >= REPEAT_AFTER
                }
            };
        if due {
            self.guided = Some(ran);
            self.streak.guided = true;
            if self.streak.polls > 1 {
                self.streak.before_guidance = Some((self.streak.mean, settings.language));
            }
            metrics.guided(settings.language);
        }
        if self.streak.polls == LONG_EPISODE + 1 {
            metrics.long_episode(self.streak.guided);
        }
        due.then(|| {
            let mean = Duration::from_secs_f64(self.streak.mean);
            let over = ran.saturating_sub(self.streak.first);
            Guidance::new(S::SUBJECT, self.streak.polls, over, mean, ran, settings.language)
        })
    }

    /// How often it was polled, ever.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How long it had run at the last poll.
    #[must_use]
    pub fn last(&self) -> Option<Duration> {
        self.last
    }

    /// How many polls in a row found it running.
    #[must_use]
    pub fn consecutive(&self) -> u32 {
        self.streak.polls
    }

    /// How long it had run at the first of the polls in a row.
    #[must_use]
    pub fn first_consecutive(&self) -> Option<Duration> {
        (self.streak.polls > 0).then_some(self.streak.first)
    }

    /// The intervals between the polls in a row, from the second poll on.
    #[must_use]
    pub fn intervals(&self) -> Option<Intervals> {
        let count = self.streak.polls.checked_sub(1).filter(|count| *count > 0)?;
        Some(Intervals {
            count,
            mean: Duration::from_secs_f64(self.streak.mean),
            deviation: Duration::from_secs_f64((self.streak.squares / f64::from(count)).max(0.0).sqrt()),
            shortest: self.streak.shortest,
        })
    }
}

impl Streak {
    fn count(&mut self, ran: Duration, interval: Option<Duration>, metrics: &PollMetrics) {
        self.polls = self.polls.saturating_add(1);
        let Some(interval) = interval else {
            self.first = ran;
            self.shortest = Duration::MAX;
            return;
        };
        if self.polls == 2 {
            metrics.episode();
        }
        let seconds = interval.as_secs_f64();
        if let Some((before, language)) = self.before_guidance.take() {
            metrics.interval_after_guidance(language, before, seconds);
        }
        self.shortest = self.shortest.min(interval);
        let distance = seconds - self.mean;
        self.mean = (self.mean + distance / f64::from(self.polls - 1)).max(0.0);
        self.squares += distance * (seconds - self.mean);
    }

    fn is_hasty(&self) -> bool {
        self.polls > 1 && self.mean < HASTY_INTERVAL.as_secs_f64()
    }
}

impl PollSettings {
    /// How many polls in a row bring the first advice.
    fn first_after(&self, hasty: bool) -> u32 {
        let first = self.threshold.max(1);
        match self.hasty_threshold {
            Some(sooner) if hasty => sooner.clamp(1, first),
            Some(_) | None => first,
        }
    }
}

/// How many polls more what has run for `ran` may have before advice is repeated.
fn further_polls(ran: Duration) -> u32 {
    let minutes = ran.as_secs() / YOUNG.as_secs();
    minutes.checked_ilog2().map_or(0, |doublings| doublings + 1)
}

#[cfg(test)]
mod tests;
