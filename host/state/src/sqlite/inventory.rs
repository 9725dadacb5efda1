//! The operator's view of a store and work on it, whether hosts use it or not.
//!
//! It asks for no grant and knows no call: the permission to open the file is enough.
//! A bucket that expired, which a host reads as empty, does not appear.

mod export;
mod import;
mod select;

use std::{
    fmt,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rusqlite::Connection;

use super::{
    expire,
    fault::storage_error,
    options::Durability,
    read::ReadTransaction,
    schema::{self, Access},
    time::{self, CountedTime},
};
use crate::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, Clock, ClockDoubt, ImportMode, ImportReport,
    InventoryError, StateError, SystemClock, clock::to_milliseconds, host_time,
};

/// How long the operator's work waits for hosts that write.
const PATIENCE: Duration = Duration::from_secs(30);
/// Buckets that one transaction clears; hosts go on between two transactions.
const CLEARED_AT_ONCE: u32 = 256;

/// The content of a store, for its operator.
pub struct Inventory {
    path: PathBuf,
    access: Access,
    clock: Arc<dyn Clock>,
    /// When the store was last changed before it was opened.
    seen: Option<SystemTime>,
    connection: Connection,
}

impl fmt::Debug for Inventory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inventory").field("path", &self.path).field("access", &self.access).finish()
    }
}

impl Inventory {
    /// Opens the store in `directory` and brings it to the current layout, as a
    /// host would. A store in a read-only directory can only be read.
    ///
    /// # Errors
    /// `Absent` where there is no store; `Open` where it cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, InventoryError> {
        if !directory.join(schema::FILE_NAME).exists() {
            return Err(InventoryError::Absent { path: directory.to_path_buf() });
        }
        Self::open_or_make(directory)
    }

    /// The same, and creates directory and store where they are missing.
    ///
    /// # Errors
    /// `Open` where that fails.
    pub fn open_or_make(directory: &Path) -> Result<Self, InventoryError> {
        let seen = time::last_change(directory);
        let opened = schema::open(directory)?;
        Ok(Self {
            path: opened.path,
            access: opened.access,
            clock: Arc::new(SystemClock),
            seen,
            connection: opened.connection,
        })
    }

    /// The same at the time of another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The chosen buckets, grouped by tenant, plugin and kind of scope, in this order.
    ///
    /// # Errors
    /// Storage errors.
    pub fn groups(&self, selection: &BucketSelection) -> Result<Vec<BucketGroup>, InventoryError> {
        Ok(select::groups(&self.connection, selection, self.now()?)?)
    }

    /// The totals of the chosen buckets.
    ///
    /// # Errors
    /// Storage errors.
    pub fn totals(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError> {
        let mut totals = BucketTotals::default();
        for group in self.groups(selection)? {
            totals.buckets += group.buckets;
            totals.entries += group.entries;
            totals.bytes += group.bytes;
        }
        Ok(totals)
    }

    /// Calls `each` with the chosen buckets, in the order of their names, as they
    /// are at one moment. Holds one of them in memory at a time.
    ///
    /// # Errors
    /// `Write` where `each` fails; storage errors.
    pub fn buckets(
        &self,
        selection: &BucketSelection,
        mut each: impl FnMut(BucketSummary) -> std::io::Result<()>,
    ) -> Result<(), InventoryError> {
        select::buckets(&self.connection, selection, self.now()?, |_, summary| {
            each(summary).map_err(InventoryError::Write)
        })
    }

    /// Writes the chosen buckets as they are at one moment, as the lines that
    /// [`Inventory::import`] reads. Holds one entry in memory at a time. The log of the
    /// database cannot shrink meanwhile.
    ///
    /// An export has the moment at which each bucket expires, and no revisions.
    ///
    /// # Errors
    /// `Write` where `out` fails; storage errors.
    pub fn export(&self, selection: &BucketSelection, out: &mut dyn Write) -> Result<BucketTotals, InventoryError> {
        let _snapshot = ReadTransaction::begin(&self.connection)?;
        export::run(&self.connection, selection, self.now()?, out)
    }

    /// Writes the content of an export, all of it or nothing, and reads one entry
    /// at a time. Hosts cannot write meanwhile.
    ///
    /// Every entry gets a revision that no store ever gave: above every revision of
    /// this store, and above the number of milliseconds since 1970, which no
    /// store's own count of writes reaches. The import ignores quotas, which are the
    /// operator's own.
    ///
    /// # Errors
    /// `Import` where the export is refused; `ReadOnly` and other storage
    /// errors.
    pub fn import(&self, from: &mut dyn BufRead, mode: ImportMode) -> Result<ImportReport, InventoryError> {
        let now = self.now()?;
        self.transaction(|connection| import::run(connection, from, mode, now))
    }

    /// Removes the chosen buckets with their content. Works in steps
    /// between which hosts go on; one step removes a bucket as a whole.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors.
    pub fn clear(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError> {
        let mut cleared = BucketTotals::default();
        loop {
            let now = self.now()?;
            let rows = self.transaction(|connection| {
                let rows = select::rows(connection, selection, now, CLEARED_AT_ONCE)?;
                for (tenant, row) in &rows {
                    expire::remove(connection, tenant, row)?;
                }
                Ok(rows)
            })?;
            if rows.is_empty() {
                break;
            }
            rows.iter().for_each(|(_, row)| cleared.add(row.entries, row.bytes));
        }
        // Hosts would give the space back, too, but none may be running.
        while !self.transaction(|connection| Ok(expire::step(connection, self.now()?)?))?.done {}
        Ok(cleared)
    }

    /// Why hosts doubt the wall clock, where they do.
    ///
    /// # Errors
    /// Storage errors.
    pub fn clock_doubt(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let (counted, wall) = self.counted()?;
        Ok(host_time::doubt(counted, wall))
    }

    /// Confirms that the wall clock is right: its time counts from now on, and buckets that
    /// are expired by it end. Running hosts learn of it at their next sweep, within
    /// minutes. Returns the doubt that this ends.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors.
    pub fn confirm_clock(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let doubt = self.clock_doubt()?;
        let now = CountedTime::at(to_milliseconds(self.clock.now()), self.clock.uptime().as_ref());
        self.transaction(|connection| now.write(connection).map_err(|error| storage_error(error).into()))?;
        Ok(doubt)
    }

    /// The time by which buckets expire.
    fn now(&self) -> Result<i64, StateError> {
        self.counted().map(|(counted, wall)| counted.min(wall))
    }

    /// The counted time, and the wall clock's.
    fn counted(&self) -> Result<(i64, i64), StateError> {
        let wall = to_milliseconds(self.clock.now());
        let counted = match CountedTime::read(&self.connection).map_err(storage_error)? {
            Some(stored) => stored.now(wall, self.clock.uptime().as_ref()),
            None => time::uncounted(self.seen, wall),
        };
        Ok((counted, wall))
    }

    /// Runs `work` in one transaction that may write.
    fn transaction<T>(&self, work: impl FnOnce(&Connection) -> Result<T, InventoryError>) -> Result<T, InventoryError> {
        if self.access == Access::ReadOnly {
            return Err(StateError::ReadOnly.into());
        }
        let write = || -> rusqlite::Result<Connection> {
            let connection = schema::writer(&self.path, Durability::Process)?;
            connection.busy_timeout(PATIENCE)?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            Ok(connection)
        };
        let connection = write().map_err(storage_error)?;
        // After an error, closing the connection rolls back.
        let outcome = work(&connection)?;
        connection.execute_batch("COMMIT").map_err(storage_error)?;
        Ok(outcome)
    }
}
