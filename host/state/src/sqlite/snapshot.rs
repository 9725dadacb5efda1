//! A store as one file of one moment, and what makes such a file a store again.
//!
//! SQLite itself writes the snapshot, in one read transaction: hosts go on writing, and a copy of
//! the file and its log, which a host changes meanwhile, is never needed.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use rusqlite::{
    OpenFlags,
    types::{ToSqlOutput, ValueRef},
};
use wharf_files::private_files;

use super::{fault::storage_error, place::StatePlace, schema};
use crate::{InventoryError, OpenError, StateError, clock::to_milliseconds};

/// How long a snapshot waits for a process that repairs the log after a kill.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the store of a data directory, as it is at one moment, to the new file `to`, for the
/// user of this process alone. The snapshot of an encrypted store is encrypted under the same key. Hosts may write meanwhile: what they acknowledged before the
/// call is in the snapshot. Returns whether there is a store.
///
/// The snapshot takes as much room as the store, without what is free in it. It is as durable as
/// a file that nobody synchronised.
///
/// # Errors
/// `Open` where the store cannot be opened, or is one of a later version; `State` where it cannot
/// be read, or the snapshot cannot be written.
pub fn snapshot(place: &StatePlace, to: &Path) -> Result<bool, InventoryError> {
    let Some((file, store)) = schema::open_as_it_is(place)? else { return Ok(false) };
    // SQLite writes into an empty file and keeps its mode.
    private_files::options()
        .write(true)
        .create_new(true)
        .open(to)
        .map_err(|source| StateError::Disk { source: source.into() })?;
    let name = to.as_os_str().as_encoded_bytes();
    let write = || -> rusqlite::Result<()> {
        store.busy_timeout(PATIENCE)?;
        store.execute("VACUUM INTO ?1", [ToSqlOutput::Borrowed(ValueRef::Text(name))])?;
        // It is no WAL database yet, and a host changes the mode of new ones alone.
        let snapshot = file.connect(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        snapshot.execute_batch("PRAGMA journal_mode = WAL")?;
        snapshot.close().map_err(|(_, error)| error)
    };
    write().map_err(storage_error)?;
    Ok(true)
}

/// Makes a snapshot that lies in `directory` the store of this directory: verifies that this
/// version can use it, and sees to it that no revision comes back.
///
/// Hosts went on after the snapshot and gave revisions that it knows nothing of. Later writes get
/// revisions above the number of milliseconds since 1970, which no store's own count reaches.
///
/// # Errors
/// `Open` where the file is no store of this or an earlier version; `State` where it is damaged.
pub fn take_over_snapshot(place: &StatePlace) -> Result<(), InventoryError> {
    let Some((file, _)) = schema::open_as_it_is(place)? else {
        return Err(OpenError::Foreign { path: place.path() }.into());
    };
    let now = to_milliseconds(SystemTime::now());
    let raise = || -> rusqlite::Result<()> {
        let store = file.connect(&file.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // What the file defines itself is run by nobody.
        store.execute_batch("PRAGMA trusted_schema = OFF; BEGIN IMMEDIATE")?;
        store.execute("UPDATE scope SET revision = ?1 WHERE revision < ?1", [now])?;
        store.execute("UPDATE counter SET revision_floor = ?1 WHERE revision_floor < ?1", [now])?;
        store.execute_batch("COMMIT")?;
        // The last connection writes the log back and removes it.
        store.close().map_err(|(_, error)| error)
    };
    raise().map_err(|error| storage_error(error).into())
}
