//! The inventory of a store on PostgreSQL, whether hosts use it or not.

mod import;
mod select;
mod session;

use std::{
    fmt,
    io::{self, BufRead, Write},
    time::SystemTime,
};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use wharf_state::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, ClockDoubt, ImportMode, ImportReport, Inventory,
    InventoryError, StateError, to_milliseconds,
    transfer::{self, Exporter},
};

use crate::{
    ConnectionOptions, DatabaseAddress, DatabaseOpenError, layout,
    sweep::{self, SweepRequest, SweepStep},
};
use import::DatabaseTarget;
use session::Session;

/// Buckets that one transaction clears; hosts go on between two transactions.
const CLEARED_AT_ONCE: i64 = 256;

/// The content of a store on PostgreSQL, for its operator. Its calls block: call them from no
/// asynchronous task.
pub struct PostgresInventory {
    shown: String,
    runtime: Runtime,
    // Held for one call.
    client: parking_lot::Mutex<Client>,
}

impl fmt::Debug for PostgresInventory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostgresInventory").field("at", &self.shown).finish_non_exhaustive()
    }
}

impl PostgresInventory {
    /// Connects to the database that `text` names, as libpq's programs take it, and makes or
    /// updates the tables, as a host would.
    ///
    /// # Errors
    /// `Server` where that fails.
    pub fn open(text: &str, options: &ConnectionOptions) -> Result<Self, InventoryError> {
        let address = DatabaseAddress::parse(text, options)?;
        let cannot =
            |error: io::Error| DatabaseOpenError::Connect { at: address.shown().to_owned(), source: Box::new(error) };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let client = runtime.block_on(async {
            let mut client = address.connect().await?;
            layout::set_up(&mut client, address.shown()).await?;
            Ok::<_, DatabaseOpenError>(client)
        })?;
        Ok(Self { shown: address.shown().to_owned(), runtime, client: parking_lot::Mutex::new(client) })
    }

    /// Runs `work` on one state of the database, which does not change meanwhile.
    fn snapshot<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, InventoryError>) -> Result<T, InventoryError> {
        let mut client = self.client.lock();
        work(&Session::snapshot(&self.runtime, &mut client)?)
    }

    /// Runs `work` in one transaction that may write; an error undoes all of it.
    fn transaction<T>(
        &self,
        work: impl FnOnce(&Session<'_>) -> Result<T, InventoryError>,
    ) -> Result<T, InventoryError> {
        let mut client = self.client.lock();
        let session = Session::writing(&self.runtime, &mut client)?;
        let outcome = work(&session)?;
        session.commit()?;
        Ok(outcome)
    }
}

/// The earlier one of the database's time and this machine's.
fn now(session: &Session<'_>) -> Result<i64, StateError> {
    Ok(database_now(session)?.min(to_milliseconds(SystemTime::now())))
}

fn database_now(session: &Session<'_>) -> Result<i64, StateError> {
    Ok(session.query_one("SELECT wharf.now_1()", &[])?.get(0))
}

impl Inventory for PostgresInventory {
    fn groups(&self, selection: &BucketSelection) -> Result<Vec<BucketGroup>, InventoryError> {
        self.snapshot(|session| Ok(select::groups(session, selection, now(session)?)?))
    }

    fn buckets(
        &self,
        selection: &BucketSelection,
        each: &mut dyn FnMut(BucketSummary) -> io::Result<()>,
    ) -> Result<(), InventoryError> {
        self.snapshot(|session| {
            let now = now(session)?;
            select::buckets(session, selection, now, |_, summary| each(summary).map_err(InventoryError::Write))
        })
    }

    fn export(&self, selection: &BucketSelection, out: &mut dyn Write) -> Result<BucketTotals, InventoryError> {
        self.snapshot(|session| {
            let now = now(session)?;
            let mut export = Exporter::begin(out)?;
            select::buckets(session, selection, now, |content, bucket| {
                export.bucket(bucket)?;
                select::entries(session, content, &mut export)
            })?;
            export.finish()
        })
    }

    fn import(&self, from: &mut dyn BufRead, mode: ImportMode) -> Result<ImportReport, InventoryError> {
        self.transaction(|session| {
            let now = now(session)?;
            let mut target = DatabaseTarget::begin(session, now)?;
            transfer::import(from, mode, now, &mut target)
        })
    }

    fn clear(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError> {
        let mut cleared = BucketTotals::default();
        loop {
            let step = self.transaction(|session| {
                let now = now(session)?;
                Ok(select::remove(session, selection, now, CLEARED_AT_ONCE)?)
            })?;
            cleared.buckets += step.buckets;
            cleared.entries += step.entries;
            cleared.bytes += step.bytes;
            if step.buckets == 0 {
                break;
            }
        }
        // Hosts would delete the content, too, but none may be running.
        while self.transaction(|session| {
            let request = SweepRequest::new(to_milliseconds(SystemTime::now()), false);
            Ok(SweepStep::from(session.query_one(sweep::STEP, &request.parameters())?).more)
        })? {}
        Ok(cleared)
    }

    fn clock_doubt(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        let database = self.snapshot(|session| Ok(database_now(session)?))?;
        Ok(ClockDoubt::between(database, to_milliseconds(SystemTime::now())))
    }

    fn confirm_clock(&self) -> Result<Option<ClockDoubt>, InventoryError> {
        Err(InventoryError::ForeignClock)
    }
}
