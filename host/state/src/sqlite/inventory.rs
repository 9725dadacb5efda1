//! The operator's look at a store and work on it, while hosts use it or not.
//!
//! It asks for no grant and knows no call: whoever may open the file may do
//! this. What a host would read as empty, because it expired, is not there.

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
    Durability, Fault, expire,
    read::{ScopeRow, Snapshot},
    schema::{self, Access},
    storage_error,
    time::{self, Counted},
    write,
};
use crate::{
    BucketSummary, Clock, ClockDoubt, Existing, Holding, Imported, InventoryError, Selection, StateError, SystemClock,
    Totals, clock::to_milliseconds, host_time,
};

/// How long work of the operator waits for hosts that write.
const PATIENCE: Duration = Duration::from_secs(30);
/// Buckets that are cleared in one transaction, between which hosts go on.
const CLEARED_AT_ONCE: u32 = 256;

/// The content of a store, for its operator.
pub struct Inventory {
    path: PathBuf,
    access: Access,
    clock: Arc<dyn Clock>,
    /// When the store was last changed before this.
    seen: Option<SystemTime>,
    connection: Connection,
}

impl fmt::Debug for Inventory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inventory").field("path", &self.path).field("access", &self.access).finish()
    }
}

impl Inventory {
    /// Opens the store in `directory`, brought up to the current layout as a
    /// host would. Where the directory is read-only it can be looked at.
    ///
    /// # Errors
    /// `Absent` where there is no store; `Open` where it cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, InventoryError> {
        if !directory.join(schema::FILE_NAME).exists() {
            return Err(InventoryError::Absent { path: directory.to_path_buf() });
        }
        Self::open_or_make(directory)
    }

    /// The same, making directory and store where they are missing.
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

    /// What the chosen buckets hold by tenant, plugin and scope, in this order.
    ///
    /// # Errors
    /// Storage errors.
    pub fn holdings(&self, selection: &Selection) -> Result<Vec<Holding>, InventoryError> {
        Ok(kept(select::holdings(&self.connection, selection, self.now()?))?)
    }

    /// What the chosen buckets hold together.
    ///
    /// # Errors
    /// Storage errors.
    pub fn totals(&self, selection: &Selection) -> Result<Totals, InventoryError> {
        let mut totals = Totals::default();
        for holding in self.holdings(selection)? {
            totals.buckets += holding.buckets;
            totals.entries += holding.entries;
            totals.bytes += holding.bytes;
        }
        Ok(totals)
    }

    /// Shows the chosen buckets to `each`, in the order of their names, as they
    /// are at one moment. Holds one of them at a time.
    ///
    /// # Errors
    /// `Write` for what `each` fails with; storage errors.
    pub fn buckets(
        &self,
        selection: &Selection,
        mut each: impl FnMut(BucketSummary) -> std::io::Result<()>,
    ) -> Result<(), InventoryError> {
        select::buckets(&self.connection, selection, self.now()?, |_, summary| {
            each(summary).map_err(InventoryError::Write)
        })
    }

    /// Writes the chosen buckets as they are at one moment, as the lines that
    /// [`Inventory::import`] reads. Holds one entry at a time. The log of the
    /// database cannot shrink meanwhile.
    ///
    /// Buckets carry the moment at which they expire. Revisions are not
    /// carried.
    ///
    /// # Errors
    /// `Write` where `out` fails; storage errors.
    pub fn export(&self, selection: &Selection, out: &mut dyn Write) -> Result<Totals, InventoryError> {
        let _snapshot = kept(Snapshot::begin(&self.connection))?;
        export::run(&self.connection, selection, self.now()?, out)
    }

    /// Writes what an export holds, all of it or nothing, and reads one entry
    /// at a time. Hosts cannot write meanwhile.
    ///
    /// Every entry gets a revision that no store ever gave: above every one of
    /// this store, and above the number of milliseconds since 1970, which no
    /// store's own count of writes reaches. Quotas are not asked: they are the
    /// operator's own.
    ///
    /// # Errors
    /// `Import` where the export is refused; `ReadOnly` and other storage
    /// errors.
    pub fn import(&self, from: &mut dyn BufRead, existing: Existing) -> Result<Imported, InventoryError> {
        let now = self.now()?;
        self.transaction(|connection| import::run(connection, from, existing, now))
    }

    /// Removes the chosen buckets with all that they hold. Goes in steps
    /// between which hosts go on; a bucket goes as a whole.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors.
    pub fn clear(&self, selection: &Selection) -> Result<Totals, InventoryError> {
        let mut cleared = Totals::default();
        loop {
            let now = self.now()?;
            let rows = self.transaction(|connection| {
                let rows = kept(select::rows(connection, selection, now, CLEARED_AT_ONCE))?;
                for (tenant, row) in &rows {
                    kept(remove(connection, tenant, row))?;
                }
                Ok(rows)
            })?;
            if rows.is_empty() {
                break;
            }
            rows.iter().for_each(|(_, row)| cleared.add(row.entries, row.bytes));
        }
        // Hosts would give the space back, too, but need not be running.
        while !self.transaction(|connection| Ok(kept(expire::step(connection, self.now()?))?))?.done {}
        Ok(cleared)
    }

    /// Why hosts do not believe the wall clock, where they do not.
    ///
    /// # Errors
    /// Storage errors.
    pub fn clock_doubt(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let (counted, wall) = self.counted()?;
        Ok(host_time::doubt(counted, wall))
    }

    /// Says that the wall clock is right: what it says has passed counts from now on, and
    /// ends what expired meanwhile. Hosts that run hear of it at their next sweep, within
    /// minutes. Returns what was doubted.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors.
    pub fn confirm_clock(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let doubt = self.clock_doubt()?;
        let now = Counted::at(to_milliseconds(self.clock.now()), self.clock.uptime().as_ref());
        self.transaction(|connection| now.write(connection).map_err(|error| storage_error(error).into()))?;
        Ok(doubt)
    }

    /// By when something is over.
    fn now(&self) -> Result<i64, StateError> {
        self.counted().map(|(counted, wall)| counted.min(wall))
    }

    /// How far time was counted, and what the clock says.
    fn counted(&self) -> Result<(i64, i64), StateError> {
        let wall = to_milliseconds(self.clock.now());
        let kept = Counted::read(&self.connection).map_err(storage_error)?;
        let counted = match kept {
            Some(kept) => kept.now(wall, self.clock.uptime().as_ref()),
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
        // Closing the connection rolls back what is not committed.
        let done = work(&connection)?;
        connection.execute_batch("COMMIT").map_err(storage_error)?;
        Ok(done)
    }
}

/// Removes a bucket; its content goes in the steps of a sweep.
fn remove(connection: &Connection, tenant: &str, row: &ScopeRow) -> Result<(), Fault> {
    expire::part(connection, tenant, row)?;
    write::remove_scope(connection, row, row.revision)
}

/// What the database or our rules say, as an error of the store.
fn kept<T>(done: Result<T, Fault>) -> Result<T, StateError> {
    done.map_err(|fault| match fault {
        Fault::Refused(error) => error,
        Fault::Storage(error) => storage_error(error),
    })
}
