//! How long calls took, in steps that are fine enough for a median and coarse enough to count for nothing.

use std::{
    array,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Four steps for each doubling, from a microsecond to two weeks.
const STEPS: usize = 4 * 40;

/// Counts of calls by how long they took.
#[derive(Debug)]
pub(crate) struct Durations([AtomicU64; STEPS]);

impl Default for Durations {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Durations {
    pub(crate) fn count(&self, took: Duration) {
        self.0[step(took)].fetch_add(1, Relaxed);
    }

    /// All of them.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// Step by step, up to the last one that has any.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts: Vec<_> = self.0.iter().map(|count| count.load(Relaxed)).collect();
        let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        counts.truncate(used);
        counts
    }
}

/// Step `i` begins at (4 + i mod 4) × 2^(i div 4) quarters of a microsecond.
fn step(took: Duration) -> usize {
    let quarters = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1).saturating_mul(4);
    let doublings = quarters.ilog2() - 2;
    let within = (quarters >> doublings) - 4;
    (4 * doublings as usize + within as usize).min(STEPS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a step begins, in quarters of a microsecond.
    fn begin(step: usize) -> u64 {
        (4 + step as u64 % 4) << (step / 4)
    }

    #[test]
    fn each_duration_is_in_the_step_that_holds_it() {
        for micros in (0..5_000).chain((0..40).map(|power| 1 << power)).chain((2..40).map(|power| (1 << power) - 1)) {
            let (step, quarters) = (step(Duration::from_micros(micros)), 4 * micros.max(1));
            assert!(begin(step) <= quarters && (quarters < begin(step + 1)), "{micros} is in {step}");
        }
        assert_eq!(step(Duration::MAX), STEPS - 1);
    }

    #[test]
    fn what_is_told_ends_with_the_longest_call() {
        let durations = Durations::default();
        assert!(durations.counts().is_empty() && durations.total() == 0);
        for micros in [1, 1, 7] {
            durations.count(Duration::from_micros(micros));
        }
        assert_eq!((durations.total(), durations.counts()), (3, vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
    }
}
