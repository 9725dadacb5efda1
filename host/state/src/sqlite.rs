//! The store on disk: one SQLite database in the data directory, shared by all
//! hosts that use the directory.
//!
//! Writes go through one thread (`writer`) that commits them in groups. Reads
//! run on the thread of their caller, on connections of their own (`readers`). No other
//! crate names SQL.

#[cfg(feature = "encryption")]
mod cipher;
mod expire;
mod fault;
pub(crate) mod inventory;
mod job;
mod operation;
pub(crate) mod options;
pub(crate) mod place;
mod read;
mod readers;
pub(crate) mod reencrypt;
pub(crate) mod schema;
pub(crate) mod snapshot;
mod time;
mod value_cache;
mod write;
mod writer;

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use wharf_core::ScopeKey;

use crate::{
    Ceilings, EntryPage, HostTime, KeyPage, OpenError, ScopePolicy, ScopeUsage, SqliteOptions, StateChange, StateEntry,
    StateError, StatePlace, StateStore, SweepTotals,
    clock::{from_milliseconds, to_milliseconds},
    host_time::Moment,
    rules,
    scan_range::ScanRange,
};
use job::{PendingUses, Touch};
use read::SnapshotRead;
use readers::ReaderPool;
use schema::{Access, OpenedDatabase};
use time::CountedTime;
use value_cache::ValueCache;
use writer::WriterHandle;

/// How long the recording of a read may wait for another process. Past it the
/// next read tries to record its own.
const TOUCH_PATIENCE: Duration = Duration::from_secs(2);
/// How long one step of a sweep may wait for another process.
const SWEEP_PATIENCE: Duration = Duration::from_secs(5);

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
    readers: ReaderPool,
    cache: ValueCache,
    pending: PendingUses,
    writer: WriterHandle,
}

impl SqliteStore {
    /// Opens the store of a place, and creates directory and store where they are missing,
    /// for the user of this process alone.
    ///
    /// Opening a store that exists takes well under a millisecond: it writes nothing
    /// but the counted time, after an hour or a start of the machine,
    /// and opens other connections when they are first needed.
    ///
    /// # Errors
    /// Where the directory cannot be created, or the file in it is not a store of
    /// this or an earlier version.
    pub fn open(place: impl Into<StatePlace>, options: SqliteOptions) -> Result<Self, OpenError> {
        let place = place.into();
        let seen = time::last_change(place.directory());
        let opened = schema::open(&place)?;
        if opened.access == Access::ReadOnly {
            tracing::warn!(path = %opened.file.path.display(), "the state can only be read");
        }
        let time = HostTime::new(options.clock);
        if let Err(error) = count_on(&opened, &time, seen) {
            tracing::warn!(path = %opened.file.path.display(), %error, "how far time was counted cannot be kept");
        }
        if let Some(doubt) = time.doubt() {
            tracing::warn!(path = %opened.file.path.display(), "{doubt}; `wharf state confirm-clock` says that it is right");
        }
        Ok(Self {
            ceilings: options.ceilings,
            time,
            access: opened.access,
            readers: ReaderPool::new(opened.file.clone(), opened.access, opened.connection),
            cache: ValueCache::new(),
            pending: Arc::new(Mutex::new(HashSet::new())),
            writer: WriterHandle::new(opened.file, options.durability),
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

    /// Continues from the time that other hosts have counted, or that the operator has
    /// confirmed, and stores the counted time.
    async fn keep_counting(&self) -> Result<(), StateError> {
        let time = self.time.clone();
        let until = Instant::now() + SWEEP_PATIENCE;
        self.writer
            .run(until, 0, move |connection| {
                let uptime = time.uptime();
                if let Some(stored) = CountedTime::read(connection)? {
                    let others = stored.now(time.wall(), uptime.as_ref());
                    // On a machine without an uptime, this host's own count is the better one.
                    time.set(if uptime.is_some() { others } else { others.max(time.counted()) });
                }
                Ok(CountedTime::at(time.counted(), uptime.as_ref()).write(connection)?)
            })
            .await
    }

    /// Hands the use of a scope to the writer, without waiting until it is recorded.
    fn finish<T>(&self, read: SnapshotRead<T>) -> T {
        if let Some(used) = read.used
            && self.access == Access::ReadWrite
            && self.pending.lock().insert(used.scope)
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

    // Reads run on the thread of the caller: they take microseconds (a point read 5,
    // a page of 100 about 50), less than handing them to another thread would,
    // and in WAL mode they never wait for a writer.

    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<StateEntry>>, StateError> {
        rules::check_keys(keys)?;
        let request = read::ReadRequest { keys, max_bytes };
        let (cache, now) = (&self.cache, self.now());
        let read = self.readers.read(|connection| read::get_many(connection, cache, scope, policy, request, now))?;
        Ok(self.finish(read))
    }

    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError> {
        self.apply_and_notify(scope, policy, changes, until, Box::new(|| {})).await
    }

    async fn apply_and_notify(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
        committed: Box<dyn FnOnce() + Send>,
    ) -> Result<Vec<u64>, StateError> {
        rules::check_changes(&changes)?;
        self.writable()?;
        if changes.is_empty() {
            committed();
            return Ok(Vec::new());
        }
        let weight = changes.iter().map(|change| change.value.as_ref().map_or(0, Vec::len)).sum();
        let (scope, policy) = (scope.clone(), policy.clone());
        let (ceilings, time) = (self.ceilings.clone(), self.time.clone());
        self.writer
            .run_and_notify(until, weight, committed, move |connection| {
                // The closure reads the time inside the transaction, so that two
                // processes agree on the order of their writes.
                write::apply(connection, &scope, &policy, &changes, &ceilings, time.moment())
            })
            .await
    }

    async fn scan(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<EntryPage, StateError> {
        let range = ScanRange::new(prefix, after, limit, max_bytes)?;
        let now = self.now();
        let read = self.readers.read(|connection| read::scan(connection, scope, policy, range, now))?;
        Ok(self.finish(read))
    }

    async fn scan_keys(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<KeyPage, StateError> {
        let range = ScanRange::new(prefix, after, limit, max_bytes)?;
        let now = self.now();
        let read = self.readers.read(|connection| read::scan_keys(connection, scope, policy, range, now))?;
        Ok(self.finish(read))
    }

    async fn usage(&self, scope: &ScopeKey) -> Result<ScopeUsage, StateError> {
        let now = self.now();
        let row = self.readers.read(|connection| read::scope_row(connection, scope))?;
        Ok(row
            .filter(|row| row.alive(now.passed))
            .map_or_else(ScopeUsage::default, |row| ScopeUsage { entries: row.entries, bytes: row.bytes }))
    }

    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError> {
        let now = self.now();
        let row = self.readers.read(|connection| read::scope_row(connection, scope))?;
        Ok(row
            .filter(|row| !row.alive(now.passed))
            .and_then(|row| row.expired_at.or(row.expires))
            .map(from_milliseconds))
    }

    async fn sweep(&self, now: SystemTime) -> Result<SweepTotals, StateError> {
        self.writable()?;
        self.keep_counting().await?;
        let now = to_milliseconds(now);
        let mut swept = SweepTotals::default();
        if !self.readers.read(|connection| expire::anything_to_do(connection, now))? {
            return Ok(swept);
        }
        // Each step is a job of its own: other writes of this process run in
        // between, and writes of other processes wait for one step only.
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

/// Continues the count of earlier hosts.
fn count_on(opened: &OpenedDatabase, time: &HostTime, seen: Option<SystemTime>) -> rusqlite::Result<()> {
    let (wall, uptime) = (time.wall(), time.uptime());
    let stored = CountedTime::read(&opened.connection)?;
    let now = |stored: &CountedTime| stored.now(wall, uptime.as_ref());
    let counted = stored.as_ref().map_or_else(|| time::uncounted(seen, wall), now);
    time.set(counted);
    let counted = CountedTime::at(counted, uptime.as_ref());
    if opened.access == Access::ReadOnly || stored.is_some_and(|stored| counted.is_like(&stored)) {
        return Ok(());
    }
    counted.write(&opened.connection)
}

#[cfg(test)]
mod tests;
