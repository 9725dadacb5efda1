//! Limits what the log says of a database that fails again and again: a line for the first
//! failure, and then at most one line a minute with the count.
//!
//! A full disk fails each write of each guest, and a line for each would fill the
//! disk that holds the log.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// Pause between two lines about the same failure.
const QUIET: Duration = Duration::from_secs(60);
/// More kinds of failure than a database has; beyond that the log forgets all of them.
const MOST: usize = 16;

/// Failures by their text.
#[derive(Debug, Default)]
pub struct FailureLog(Mutex<BTreeMap<String, LoggedFailure>>);

#[derive(Debug)]
struct LoggedFailure {
    /// Time of the last line.
    at: Instant,
    /// Failures since then.
    since: u64,
}

impl FailureLog {
    /// Without any failure.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Counts a failure. Where a line about it is due, returns how many failures of this
    /// kind happened since the last line.
    pub fn record(&self, text: &str, now: Instant) -> Option<u64> {
        let mut failures = self.0.lock();
        match failures.get_mut(text) {
            Some(logged) if now.saturating_duration_since(logged.at) < QUIET => {
                logged.since += 1;
                None
            }
            Some(logged) => {
                let since = std::mem::take(&mut logged.since);
                logged.at = now;
                Some(since)
            }
            None => {
                if failures.len() >= MOST {
                    failures.clear();
                }
                failures.insert(text.to_owned(), LoggedFailure { at: now, since: 0 });
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
        let (log, start) = (FailureLog::new(), Instant::now());
        assert_eq!(log.record("full", start), Some(0));
        for _ in 0..200 {
            assert_eq!(log.record("full", start), None);
        }
        assert_eq!(log.record("read only", start), Some(0), "another failure is news");
        assert_eq!(log.record("full", start + QUIET), Some(200));
        assert_eq!(log.record("full", start + QUIET), None);
        assert_eq!(log.record("full", start + QUIET * 2), Some(1));
    }

    #[test]
    fn no_more_is_remembered_than_a_few_kinds() {
        let (log, now) = (FailureLog::new(), Instant::now());
        for number in 0..1_000 {
            assert_eq!(log.record(&number.to_string(), now), Some(0));
        }
        assert!(log.0.lock().len() <= MOST);
    }
}
