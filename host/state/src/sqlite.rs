//! The store on disk: one SQLite database in the data directory, shared by all
//! hosts that use the directory.
//!
//! Writes go through one thread (`writer`) that commits them in groups, reads
//! run where they are asked for (`readers`), on connections of their own. This
//! is the only room that names SQL.

mod expire;
mod hot;
pub(crate) mod inventory;
mod job;
mod read;
mod readers;
mod schema;
mod telling;
#[cfg(test)]
mod tests;
mod time;
mod turn;
mod write;
mod writer;

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use async_trait::async_trait;
use wharf_core::ScopeKey;

use crate::{
    Ceilings, Change, Clock, Entry, HostTime, MAX_PAGE_ENTRIES, OpenError, Page, Policy, StateError, StateStore, Swept,
    SystemClock, Usage,
    clock::{from_milliseconds, to_milliseconds},
    host_time::Moment,
    rules,
};
use hot::Hot;
use job::{Pending, Touch};
use read::Read;
use readers::Readers;
use schema::Access;
use telling::Telling;
use time::Counted;
use writer::Writer;

/// How long the recording of a read may wait for another process. Past it the
/// next read asks again.
const TOUCH_PATIENCE: Duration = Duration::from_secs(2);
/// How long one step of a sweep may wait for another process.
const SWEEP_PATIENCE: Duration = Duration::from_secs(5);

/// What survives when a write returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Every kill of the process; a power cut may take the last moments.
    #[default]
    Process,
    /// Power cuts too: every commit waits for the disk, about 3 ms.
    Power,
}

/// How a [`SqliteStore`] is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// What all scopes together may hold.
    pub ceilings: Ceilings,
    /// What a returned write survives.
    pub durability: Durability,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { ceilings: Ceilings::default(), durability: Durability::default(), clock: Arc::new(SystemClock) }
    }
}

/// Keeps state in `state.sqlite3` of a data directory.
///
/// Any number of stores in any number of processes may be open on one
/// directory of a local disk at once (not on a network file system). Where the
/// directory or file is read-only, the store serves reads and refuses writes
/// with [`StateError::ReadOnly`].
#[derive(Debug)]
pub struct SqliteStore {
    ceilings: Ceilings,
    time: HostTime,
    access: Access,
    // Declared before the writer, so that the writer's connection closes last
    // and tidies the log up.
    readers: Readers,
    hot: Hot,
    /// Scopes whose use is on its way to the writer.
    pending: Pending,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the store in `directory`, and makes both where they are missing,
    /// for the user of this process alone.
    ///
    /// A store that exists is opened in well under a millisecond: nothing is
    /// written but how far time was counted, after an hour or a start of the machine,
    /// and other connections are made when they are first needed.
    ///
    /// # Errors
    /// Where the directory cannot be made, or the file in it is not a store of
    /// this or an earlier version.
    pub fn open(directory: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let seen = time::last_change(directory);
        let opened = schema::open(directory)?;
        if opened.access == Access::ReadOnly {
            tracing::warn!(path = %opened.path.display(), "the state can only be read");
        }
        let time = HostTime::new(options.clock);
        if let Err(error) = count_on(&opened, &time, seen) {
            tracing::warn!(path = %opened.path.display(), %error, "how far time was counted cannot be kept");
        }
        if let Some(doubt) = time.doubt() {
            tracing::warn!(path = %opened.path.display(), "{doubt}; `wharf state confirm-clock` says that it is right");
        }
        Ok(Self {
            ceilings: options.ceilings,
            time,
            access: opened.access,
            readers: Readers::new(opened.path.clone(), opened.access, opened.connection),
            hot: Hot::new(),
            pending: Arc::new(Mutex::new(HashSet::new())),
            writer: Writer::new(opened.path, options.durability),
        })
    }

    fn now(&self) -> Moment {
        self.time.moment()
    }

    fn writable(&self) -> Result<(), StateError> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(StateError::ReadOnly),
        }
    }

    /// Counts on from what other hosts have counted, or the operator has confirmed, and
    /// keeps how far it is.
    async fn keep_counting(&self) -> Result<(), StateError> {
        let time = self.time.clone();
        let until = Instant::now() + SWEEP_PATIENCE;
        self.writer
            .run(until, 0, move |connection| {
                let uptime = time.uptime();
                if let Some(kept) = Counted::read(connection)? {
                    let others = kept.now(time.wall(), uptime.as_ref());
                    // Where the machine does not say what has passed, this host knows best.
                    time.set(if uptime.is_some() { others } else { others.max(time.counted()) });
                }
                Ok(Counted::at(time.counted(), uptime.as_ref()).write(connection)?)
            })
            .await
    }

    /// Has the use of a scope recorded, without waiting for it.
    fn finish<T>(&self, read: Read<T>) -> T {
        if let Some(used) = read.used
            && self.access == Access::ReadWrite
            && self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(used.scope)
        {
            self.writer.touch(Touch::new(used, Arc::clone(&self.pending), Instant::now() + TOUCH_PATIENCE));
        }
        read.value
    }
}

#[async_trait]
impl StateStore for SqliteStore {
    fn host_time(&self) -> HostTime {
        self.time.clone()
    }

    // Reads run on the thread that asks: they take microseconds (a point read 5,
    // a page of 100 about 50), less than handing them to another thread would,
    // and in WAL mode they never wait for a writer.

    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<Entry>>, StateError> {
        rules::check_keys(keys)?;
        let wanted = read::Wanted { keys, max_bytes };
        let now = self.now();
        let read = self.readers.read(|connection| read::get_many(connection, &self.hot, scope, policy, wanted, now))?;
        Ok(self.finish(read))
    }

    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        changes: Vec<Change>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError> {
        self.apply_and_tell(scope, policy, changes, until, Box::new(|| {})).await
    }

    async fn apply_and_tell(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        changes: Vec<Change>,
        until: Instant,
        made: Box<dyn FnOnce() + Send>,
    ) -> Result<Vec<u64>, StateError> {
        rules::check_changes(&changes)?;
        self.writable()?;
        if changes.is_empty() {
            made();
            return Ok(Vec::new());
        }
        let weight = changes.iter().map(|change| change.value.as_ref().map_or(0, Vec::len)).sum();
        let (scope, policy) = (scope.clone(), policy.clone());
        let (ceilings, time) = (self.ceilings.clone(), self.time.clone());
        self.writer
            .run_and_tell(until, weight, made, move |connection| {
                // The time is read when the write has its turn, so that two
                // processes agree on what happened first.
                write::apply(connection, &scope, &policy, &changes, &ceilings, time.moment())
            })
            .await
    }

    async fn scan(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<Page, StateError> {
        rules::check_bound(prefix)?;
        rules::check_bound(after.unwrap_or_default())?;
        let range = read::Range { prefix, after, limit: limit.clamp(1, MAX_PAGE_ENTRIES) as usize, max_bytes };
        let now = self.now();
        let read = self.readers.read(|connection| read::scan(connection, scope, policy, range, now))?;
        Ok(self.finish(read))
    }

    async fn usage(&self, scope: &ScopeKey) -> Result<Usage, StateError> {
        let now = self.now();
        let row = self.readers.read(|connection| read::scope_row(connection, scope))?;
        Ok(row
            .filter(|row| row.alive(now.passed))
            .map_or_else(Usage::default, |row| Usage { entries: row.entries, bytes: row.bytes }))
    }

    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError> {
        let now = self.now();
        let row = self.readers.read(|connection| read::scope_row(connection, scope))?;
        Ok(row
            .filter(|row| !row.alive(now.passed))
            .and_then(|row| row.expired_at.or(row.expires))
            .map(from_milliseconds))
    }

    async fn sweep(&self, now: SystemTime) -> Result<Swept, StateError> {
        self.writable()?;
        self.keep_counting().await?;
        let now = to_milliseconds(now);
        let mut swept = Swept::default();
        if !self.readers.read(|connection| expire::anything_to_do(connection, now))? {
            return Ok(swept);
        }
        // Each step is one turn of the writer: other writes of this process go
        // in between, and those of other processes need not wait for long.
        loop {
            let until = Instant::now() + SWEEP_PATIENCE;
            let step = self.writer.run(until, 0, move |connection| expire::step(connection, now)).await?;
            swept.scopes += step.swept.scopes;
            swept.bytes += step.swept.bytes;
            if step.done {
                return Ok(swept);
            }
        }
    }
}

/// Counts on from where earlier hosts have come to.
fn count_on(opened: &schema::Opened, time: &HostTime, seen: Option<SystemTime>) -> rusqlite::Result<()> {
    let (wall, uptime) = (time.wall(), time.uptime());
    let kept = Counted::read(&opened.connection)?;
    let counted = kept.as_ref().map_or_else(|| time::uncounted(seen, wall), |kept| kept.now(wall, uptime.as_ref()));
    time.set(counted);
    let counted = Counted::at(counted, uptime.as_ref());
    if opened.access == Access::ReadOnly || kept.is_some_and(|kept| counted.is_like(&kept)) {
        return Ok(());
    }
    counted.write(&opened.connection)
}

/// Why an operation on the database ended: by our rules, which leaves the
/// transaction intact, or by the database, which does not.
#[derive(Debug)]
enum Fault {
    Refused(StateError),
    Storage(rusqlite::Error),
}

impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error)
    }
}

/// What was told of the databases of this process.
static TOLD: Telling = Telling::new();

/// Logs what the guest is not told, and says it in the store's terms.
fn storage_error(error: rusqlite::Error) -> StateError {
    let shown = error.to_string();
    let error = StateError::from(error);
    if matches!(error, StateError::Busy) {
        tracing::debug!(error = shown, "the state database is busy");
        return error;
    }
    let Some(untold) = TOLD.hear(&shown, Instant::now()) else { return error };
    // How often the same has happened since it was told.
    let untold = (untold > 0).then_some(untold);
    match &error {
        StateError::Disk { .. } | StateError::Damaged { .. } | StateError::Failed { .. } => {
            tracing::error!(error = shown, untold, "the state database failed");
        }
        _ => tracing::warn!(error = shown, untold, "the state database cannot write"),
    }
    error
}
