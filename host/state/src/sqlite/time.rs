//! Stores how far hosts have counted time beside the data that expires by it, so that every
//! host on the directory counts on from there.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::schema;
use crate::{
    clock::{Uptime, duration_milliseconds, to_milliseconds},
    host_time::after_pause,
};

/// Shortest time between two writes of the counted time.
const FRESH: Duration = Duration::from_secs(3_600);

/// A moment that a host has counted, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CountedTime {
    /// The start of the machine, and the milliseconds since; empty and 0 where the machine
    /// does not say.
    boot: String,
    uptime: i64,
    time: i64,
}

impl CountedTime {
    pub(super) fn at(time: i64, uptime: Option<&Uptime>) -> Self {
        let (boot, uptime) = match uptime {
            Some(Uptime { boot, since }) => (boot.clone(), duration_milliseconds(*since)),
            None => (String::new(), 0),
        };
        Self { boot, uptime, time }
    }

    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut statement = connection.prepare_cached("SELECT boot, uptime, time FROM clock")?;
        let row = |row: &rusqlite::Row<'_>| Ok(Self { boot: row.get(0)?, uptime: row.get(1)?, time: row.get(2)? });
        statement.query_row([], row).optional()
    }

    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO clock (only, boot, uptime, time) VALUES (1, ?1, ?2, ?3)")?
            .execute(params![self.boot, self.uptime, self.time])?;
        Ok(())
    }

    /// The counted time now. Where the machine has started anew, only the wall clock tells
    /// how long ago the stored moment is.
    pub(super) fn now(&self, wall: i64, uptime: Option<&Uptime>) -> i64 {
        let uptime = uptime.filter(|uptime| uptime.boot == self.boot).map(|up| duration_milliseconds(up.since));
        match uptime.and_then(|uptime| uptime.checked_sub(self.uptime)).filter(|passed| *passed >= 0) {
            Some(passed) => self.time.saturating_add(passed),
            None => after_pause(self.time, wall),
        }
    }

    /// Whether the difference is too small to be written.
    pub(super) fn is_like(&self, before: &Self) -> bool {
        self.boot == before.boot && self.time.abs_diff(before.time) < duration_milliseconds(FRESH).unsigned_abs()
    }
}

/// The counted time of a store whose hosts did not count: its last change, and now for a
/// new store.
pub(super) fn uncounted(seen: Option<SystemTime>, wall: i64) -> i64 {
    seen.map_or(wall, |seen| after_pause(to_milliseconds(seen), wall))
}

/// When the store in this directory was last changed.
pub(super) fn last_change(directory: &Path) -> Option<SystemTime> {
    let changed = |name: &str| fs::metadata(directory.join(name)).and_then(|file| file.modified()).ok();
    changed(schema::FILE_NAME).max(changed(schema::LOG_NAME))
}
