//! What the log is told of a database that fails again and again: the first time, and
//! then at most each minute how often.
//!
//! A full disk fails each write of each guest, and a line for each would fill the
//! disk that has the log.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long the same is not told again.
const QUIET: Duration = Duration::from_secs(60);
/// More kinds of failure than a database has; beyond that all are forgotten.
const MOST: usize = 16;

/// What was told, by its text.
#[derive(Debug)]
pub(super) struct Telling(Mutex<BTreeMap<String, Told>>);

#[derive(Debug)]
struct Told {
    at: Instant,
    /// How often it happened since, untold.
    since: u64,
}

impl Telling {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Whether this is to be told, and then how often it happened untold.
    pub(super) fn hear(&self, text: &str, now: Instant) -> Option<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get_mut(text) {
            Some(told) if now.saturating_duration_since(told.at) < QUIET => {
                told.since += 1;
                None
            }
            Some(told) => {
                let since = std::mem::take(&mut told.since);
                told.at = now;
                Some(since)
            }
            None => {
                if known.len() >= MOST {
                    known.clear();
                }
                known.insert(text.to_owned(), Told { at: now, since: 0 });
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_again_is_told_once_and_then_counted_each_minute() {
        let (telling, start) = (Telling::new(), Instant::now());
        assert_eq!(telling.hear("full", start), Some(0));
        for _ in 0..200 {
            assert_eq!(telling.hear("full", start), None);
        }
        assert_eq!(telling.hear("read only", start), Some(0), "another failure is news");
        assert_eq!(telling.hear("full", start + QUIET), Some(200));
        assert_eq!(telling.hear("full", start + QUIET), None);
        assert_eq!(telling.hear("full", start + QUIET * 2), Some(1));
    }

    #[test]
    fn no_more_is_remembered_than_a_few_kinds() {
        let (telling, now) = (Telling::new(), Instant::now());
        for number in 0..1_000 {
            assert_eq!(telling.hear(&number.to_string(), now), Some(0));
        }
        assert!(telling.0.lock().expect("a lock").len() <= MOST);
    }
}
