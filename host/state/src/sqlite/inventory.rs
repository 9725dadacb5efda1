//! The inventory of a store on disk, whether hosts use it or not.

mod import;
mod select;

use std::{
    fmt,
    io::{self, BufRead, Write},
    sync::Arc,
    time::{Duration, SystemTime},
};

use import::DatabaseTarget;
use rusqlite::Connection;

use super::{
    expire,
    fault::storage_error,
    options::Durability,
    place::{DatabaseFile, StatePlace},
    read::ReadTransaction,
    schema::{self, Access},
    time::{self, CountedTime},
};
use crate::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, Clock, ClockDoubt, ImportMode, ImportReport, Inventory,
    InventoryError, StateError, SystemClock,
    clock::to_milliseconds,
    transfer::{self, Exporter},
};

/// How long the operator's work waits for hosts that write.
const PATIENCE: Duration = Duration::from_secs(30);
/// Buckets that one transaction clears; hosts go on between two transactions.
const CLEARED_AT_ONCE: u32 = 256;

/// The content of a store, for its operator.
pub struct SqliteInventory {
    file: DatabaseFile,
    access: Access,
    clock: Arc<dyn Clock>,
    /// When the store was last changed before it was opened.
    seen: Option<SystemTime>,
    connection: Connection,
}

impl fmt::Debug for SqliteInventory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SqliteInventory").field("path", &self.file.path).field("access", &self.access).finish()
    }
}

impl SqliteInventory {
    /// Opens the store of a place and brings it to the current layout, as a
    /// host would. A store in a read-only directory can only be read.
    ///
    /// # Errors
    /// `Absent` where there is no store; `Open` where it cannot be opened.
    pub fn open(place: impl Into<StatePlace>) -> Result<Self, InventoryError> {
        let place = place.into();
        if !place.path().exists() {
            return Err(InventoryError::Absent { path: place.directory().to_path_buf() });
        }
        Self::open_or_make(place)
    }

    /// The same, and creates directory and store where they are missing.
    ///
    /// # Errors
    /// `Open` where that fails.
    pub fn open_or_make(place: impl Into<StatePlace>) -> Result<Self, InventoryError> {
        let place = place.into();
        let seen = time::last_change(place.directory());
        let opened = schema::open(&place)?;
        Ok(Self {
            file: opened.file,
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
            let connection = schema::writer(&self.file, Durability::Process)?;
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

impl Inventory for SqliteInventory {
    fn groups(&self, selection: &BucketSelection) -> Result<Vec<BucketGroup>, InventoryError> {
        Ok(select::groups(&self.connection, selection, self.now()?)?)
    }

    fn buckets(
        &self,
        selection: &BucketSelection,
        each: &mut dyn FnMut(BucketSummary) -> io::Result<()>,
    ) -> Result<(), InventoryError> {
        select::buckets(&self.connection, selection, self.now()?, |_, summary| {
            each(summary).map_err(InventoryError::Write)
        })
    }

    fn export(&self, selection: &BucketSelection, out: &mut dyn Write) -> Result<BucketTotals, InventoryError> {
        let _snapshot = ReadTransaction::begin(&self.connection)?;
        let mut export = Exporter::begin(out)?;
        select::buckets(&self.connection, selection, self.now()?, |content, bucket| {
            export.bucket(bucket)?;
            select::entries(&self.connection, content, |key, value| export.entry(key, value))
        })?;
        export.finish()
    }

    fn import(&self, from: &mut dyn BufRead, mode: ImportMode) -> Result<ImportReport, InventoryError> {
        let now = self.now()?;
        self.transaction(|connection| transfer::import(from, mode, now, &mut DatabaseTarget::begin(connection, now)?))
    }

    fn clear(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError> {
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

    fn clock_doubt(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let (counted, wall) = self.counted()?;
        Ok(ClockDoubt::between(counted, wall))
    }

    fn confirm_clock(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let doubt = self.clock_doubt()?;
        let now = CountedTime::at(to_milliseconds(self.clock.now()), self.clock.uptime().as_ref());
        self.transaction(|connection| now.write(connection).map_err(|error| storage_error(error).into()))?;
        Ok(doubt)
    }
}
