//! Which batches of the other hosts were heard, and whether one was missed.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{Batch, wire::WireNotice};
use crate::Incarnation;

/// Lives that are remembered: more than a cell has.
const LIVES: usize = 4_096;
/// How long a life is remembered that the database does not know yet.
const UNKNOWN: Duration = Duration::from_secs(30);

/// How many batches a host has told, as the database says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) incarnation: Incarnation,
    pub(crate) beat: i64,
    pub(crate) batches: u64,
}

/// What was heard of each life.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    // A blocking lock: held for a look-up.
    lives: Mutex<HashMap<Incarnation, Life>>,
}

#[derive(Debug, Clone, Copy)]
struct Life {
    /// The number of the last batch that was heard, or given up.
    number: u64,
    /// How many the database knew of when it was read last.
    told: Option<u64>,
    /// A beat that was read, and how far this host had come then.
    mark: Option<(i64, u64)>,
    since: Instant,
}

impl Default for Life {
    fn default() -> Self {
        Self { number: 0, told: None, mark: None, since: Instant::now() }
    }
}

impl Heard {
    /// What to tell here of a batch. A batch behind a gap says that everything may have changed.
    pub(crate) fn hear(&self, batch: Batch) -> Vec<WireNotice> {
        let Batch { from, number, notices } = batch;
        let mut lives = self.lives.lock();
        if lives.len() >= LIVES && !lives.contains_key(&from) {
            return vec![WireNotice::missed(None)];
        }
        let life = lives.entry(from).or_default();
        if number <= life.number {
            return Vec::new();
        }
        let follows = number == life.number + 1;
        life.number = number;
        if follows { notices } else { vec![WireNotice::missed(None)] }
    }

    /// Compares what was heard with what the database says of the hosts that live. Whether
    /// something was missed. A batch on its way is not: it counts from the second reading on.
    pub(crate) fn compare(&self, living: &[Told]) -> bool {
        let mut lives = self.lives.lock();
        let mut is_missed = false;
        for Told { incarnation, beat, batches } in living {
            let life = lives.entry(*incarnation).or_default();
            // The second beat after a reading was sent after it, and knows of all that was told before.
            let passed = |(marked, _): &(i64, u64)| *beat >= marked.saturating_add(2);
            let is_behind = life.told.is_some_and(|before| before > life.number);
            // A number that nobody has told would hide those that come.
            let is_ahead = life.mark.filter(passed).is_some_and(|(_, heard)| *batches < heard);
            if is_behind || is_ahead {
                (is_missed, life.number, life.mark) = (true, *batches, None);
            }
            life.told = Some(*batches);
            life.mark = life.mark.filter(|mark| !passed(mark)).or(Some((*beat, life.number)));
        }
        lives.retain(|incarnation, life| {
            if living.iter().any(|told| told.incarnation == *incarnation) {
                return true;
            }
            if life.told.is_none() && life.since.elapsed() < UNKNOWN {
                return true;
            }
            // It may have told something with its last breath.
            is_missed |= life.number > 0;
            false
        });
        is_missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(number: i64) -> Incarnation {
        Incarnation::from_i64(number).expect("a number")
    }

    fn batch(from: i64, number: u64) -> Batch {
        let notices = vec![WireNotice::missed(Some("acme".parse().expect("legal")))];
        Batch { from: life(from), number, notices }
    }

    fn told(incarnation: i64, beat: i64, batches: u64) -> Told {
        Told { incarnation: life(incarnation), beat, batches }
    }

    #[tokio::test(start_paused = true)]
    async fn batches_in_their_order_are_heard_and_one_behind_a_gap_says_that_something_was_missed() {
        let (heard, all) = (Heard::default(), [WireNotice::missed(None)]);
        assert_eq!(heard.hear(batch(1, 1)), batch(1, 1).notices);
        assert_eq!(heard.hear(batch(1, 1)), [], "heard already");
        assert_eq!(heard.hear(batch(1, 2)), batch(1, 2).notices);
        assert_eq!(heard.hear(batch(1, 4)), all);
        assert_eq!(heard.hear(batch(1, 3)), [], "everything counts as changed already");
        assert_eq!(heard.hear(batch(1, 5)), batch(1, 5).notices);
        assert_eq!(heard.hear(batch(2, 1)), batch(2, 1).notices);
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_never_came_is_missed_at_the_second_reading_and_once() {
        let heard = Heard::default();
        assert!(!heard.compare(&[told(1, 1, 0)]));
        assert!(!heard.compare(&[told(1, 2, 1)]), "it may be on its way");
        assert!(heard.compare(&[told(1, 3, 1)]));
        assert!(!heard.compare(&[told(1, 4, 1)]));
        assert_eq!(heard.hear(batch(1, 2)), batch(1, 2).notices);
        assert!(!heard.compare(&[told(1, 5, 2)]) && !heard.compare(&[told(1, 6, 2)]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_tells_all_the_time_is_ahead_of_its_beats_and_nothing_is_missed() {
        let heard = Heard::default();
        let mut number = 0;
        for beat in 0..20 {
            // What the beat says is what was told when it was sent.
            let beaten = number;
            for _ in 0..5 {
                number += 1;
                assert_eq!(heard.hear(batch(1, number)), batch(1, number).notices);
            }
            assert!(!heard.compare(&[told(1, beat, beaten)]), "at beat {beat}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_forged_number_hides_no_batch_for_long() {
        let heard = Heard::default();
        assert!(!heard.compare(&[told(1, 1, 0)]));
        heard.hear(batch(1, 1_000));
        assert!(!heard.compare(&[told(1, 2, 0)]));
        let missed = (3..8).any(|beat| heard.compare(&[told(1, beat, 1)]));
        assert!(missed);
        assert_eq!(heard.hear(batch(1, 2)), batch(1, 2).notices);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_host_told_with_its_last_breath_is_missed() {
        let heard = Heard::default();
        heard.hear(batch(1, 1));
        assert!(!heard.compare(&[told(1, 1, 1), told(2, 1, 0)]));
        assert!(heard.compare(&[told(2, 2, 0)]), "the first has told something, and is gone");
        assert!(!heard.compare(&[]), "the second has told nothing");
        // The database does not know it yet.
        heard.hear(batch(3, 1));
        assert!(!heard.compare(&[]));
        tokio::time::advance(UNKNOWN).await;
        assert!(heard.compare(&[]));
    }
}
