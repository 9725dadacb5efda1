//! How processes have ended, counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Exit, KilledBy};

/// The ends that no host brought about.
const OWN: [&str; 4] = ["success", "failure", "signaled", "not-started"];

/// How many processes have ended, by how; those that earlier hosts lost are not among them.
#[derive(Debug, Default)]
pub(crate) struct ProcessEnds {
    own: [AtomicU64; OWN.len()],
    /// One for each of [`KilledBy::ALL`].
    killed: [AtomicU64; KilledBy::ALL.len()],
}

impl ProcessEnds {
    pub(crate) fn count(&self, exit: &Exit) {
        let [success, failure, signaled, not_started] = &self.own;
        let counter = match exit {
            Exit::Exited { code: 0 } => Some(success),
            Exit::Exited { .. } => Some(failure),
            Exit::Signaled { .. } => Some(signaled),
            Exit::NotStarted { .. } => Some(not_started),
            Exit::Killed { by } => KilledBy::ALL.iter().position(|one| one == by).and_then(|at| self.killed.get(at)),
        };
        if let Some(counter) = counter {
            counter.fetch_add(1, Relaxed);
        }
    }

    /// Each way to end, and how many ended so.
    pub(crate) fn totals(&self) -> Vec<(&'static str, u64)> {
        let killed = KilledBy::ALL.iter().map(|by| by.as_str());
        let words = OWN.into_iter().chain(killed);
        words.zip(self.own.iter().chain(&self.killed)).map(|(word, count)| (word, count.load(Relaxed))).collect()
    }
}
