//! Writes a store anew under another key, or in the clear.

use std::{fs, path::Path, time::Duration};

use rusqlite::{
    Connection, OpenFlags,
    types::{ToSqlOutput, ValueRef},
};
use wharf_files::private_files;
use zeroize::Zeroizing;

use super::{
    fault::storage_error,
    place::{DatabaseFile, StateKey, StatePlace},
    schema,
};
use crate::{InventoryError, OpenError, StateError};

/// How long this waits for commands that use the store.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes the store of a directory anew: under `key`, or in the clear without one. `place` says how it may be stored
/// now; a store in the clear is taken as well. Returns whether there is a store.
///
/// The new database replaces the old one as a whole, once it is on disk. It takes as much room as the store meanwhile.
///
/// # Errors
/// `Open` where the store cannot be opened, or somebody uses it; `State` where it cannot be read or written. The store is
/// as it was then.
pub fn reencrypt(place: &StatePlace, key: Option<&StateKey>) -> Result<bool, InventoryError> {
    let old = match place.database() {
        Err(OpenError::InClear { path }) => DatabaseFile { path, key: None },
        opened => opened?,
    };
    if !old.path.exists() || schema::open_file_as_it_is(&old)?.is_none() {
        return Ok(false);
    }
    let new = DatabaseFile { path: old.path.with_extension("sqlite3-new"), key: key.cloned() };
    let failed = |source| StateError::Disk { source };
    let store = alone(&old).map_err(|error| match schema::is_busy(&error) {
        true => OpenError::InUse { path: old.path.clone() }.into(),
        false => InventoryError::from(storage_error(error)),
    })?;
    // What a command left that was killed.
    match fs::remove_file(&new.path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error.into()).into()),
        _ => {}
    }
    let made = private_files::options().read(true).write(true).create_new(true).open(&new.path);
    let made = made.map_err(|error| failed(error.into()))?;
    copy(&store, &new).map_err(storage_error)?;
    made.sync_all().map_err(|error| failed(error.into()))?;
    fs::rename(&new.path, &old.path).map_err(|error| failed(error.into()))?;
    private_files::synchronise_names(place.directory()).map_err(|error| failed(error.into()))?;
    // A command that has opened the old file, and waits for it, can write nothing there: SQLite notices that the file
    // has lost its name.
    store.close().map_err(|(_, error)| storage_error(error))?;
    Ok(true)
}

/// A connection that has the store for itself.
fn alone(file: &DatabaseFile) -> rusqlite::Result<Connection> {
    let store = file.connect(&file.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    store.busy_timeout(PATIENCE)?;
    // Others that have it open keep it from leaving the mode in which they share it.
    store.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    store.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")?;
    Ok(store)
}

fn copy(store: &Connection, new: &DatabaseFile) -> rusqlite::Result<()> {
    let literal = new.key.as_ref().map(StateKey::literal).unwrap_or_default();
    let attach = Zeroizing::new(format!("ATTACH DATABASE ?1 AS target KEY \"{}\"", &*literal));
    store.execute(&attach, [name(&new.path)])?;
    store.execute_batch("PRAGMA target.auto_vacuum = INCREMENTAL")?;
    store.query_row("SELECT sqlcipher_export('target')", [], |_| Ok(()))?;
    for pragma in ["application_id", "user_version"] {
        let value = schema::pragma(store, pragma)?;
        store.execute_batch(&format!("PRAGMA target.{pragma} = {value}"))?;
    }
    store.execute_batch("DETACH DATABASE target")?;
    // It is no WAL database yet, and a host changes the mode of new ones alone.
    let written = new.connect(&new.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    written.execute_batch("PRAGMA journal_mode = WAL")?;
    written.close().map_err(|(_, error)| error)
}

/// As SQLite takes it.
fn name(path: &Path) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(path.as_os_str().as_encoded_bytes()))
}
