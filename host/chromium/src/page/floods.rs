//! How much each session of a page has written to its console lately.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// How much a session may write within [`WINDOW`].
const MOST_ENTRIES: u32 = 1_000;
const MOST_BYTES: usize = 4 << 20;
const WINDOW: Duration = Duration::from_secs(1);

/// How much each session has written lately.
#[derive(Debug, Default)]
pub(crate) struct ConsoleFloods {
    sessions: HashMap<String, ConsoleFlood>,
}

#[derive(Debug)]
struct ConsoleFlood {
    since: Instant,
    entries: u32,
    bytes: usize,
    /// Its console is ignored.
    deaf: bool,
}

impl ConsoleFloods {
    /// Whether the console of this session is ignored.
    pub(crate) fn is_deaf(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|flood| flood.deaf)
    }

    pub(crate) fn forget(&mut self, session: &str) {
        self.sessions.remove(session);
    }

    /// Counts an entry. Whether the session has exceeded its limit with it.
    pub(crate) fn count(&mut self, session: &str, bytes: usize) -> bool {
        let now = Instant::now();
        let anew = || ConsoleFlood { since: now, entries: 0, bytes: 0, deaf: false };
        let flood = self.sessions.entry(session.to_owned()).or_insert_with(anew);
        if now.duration_since(flood.since) > WINDOW {
            *flood = ConsoleFlood { deaf: flood.deaf, ..anew() };
        }
        flood.entries += 1;
        flood.bytes += bytes;
        let too_many = !flood.deaf && (flood.entries > MOST_ENTRIES || flood.bytes > MOST_BYTES);
        flood.deaf |= too_many;
        too_many
    }
}
