//! The layout of the database, and the connections to it.
//!
//! Opening a database of the current layout runs no DDL and sets no stored
//! pragma: while other processes wrote, such opens took up to a third of a second.

use std::{
    fmt::Write as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, ffi::ErrorCode};
use wharf_files::private_files;

use super::{
    options::Durability,
    place::{DatabaseFile, StatePlace},
};
use crate::{OpenError, StateError};

/// The file of a store, below its directory.
pub const FILE_NAME: &str = "state.sqlite3";
pub(super) const LOG_NAME: &str = "state.sqlite3-wal";
/// "Whrf": marks our files among those of other programs.
const APPLICATION_ID: i64 = 0x5768_7266;
/// The layouts in their order; a database stores how many of them it has.
/// A released layout never changes.
pub(super) const LAYOUTS: &[&str] = &[LAYOUT_1, LAYOUT_2];
/// How many layouts a store has that is opened: the number of its layout.
pub const STATE_LAYOUT: usize = LAYOUTS.len();
/// How long the set-up of a new database waits for other processes that set
/// it up too.
const SETUP_PATIENCE: Duration = Duration::from_secs(10);
/// In WAL mode readers wait only while another process repairs the log, as it starts after
/// a kill, or removes the log, as the last process to end.
pub(super) const READ_PATIENCE: Duration = Duration::from_secs(1);
const STATEMENTS: usize = 32;
/// SQLite writes the log back once it has this many pages, which waits for the
/// disk: rarer than with its own 1,000.
const LOG_PAGES: u32 = 4_000;
/// Bytes of the log that stay on disk after a burst of writes.
const LOG_BYTES: u32 = 16 << 20;

// `scope.id` names the content of a scope rather than the scope: an expired
// scope gets a new id, which parts it from its content at once, however large
// that is. An absent part of a key is '', which is no legal id; NULLs would not
// be unique. `total` has a row for each tenant, and '' for all of them.
// `expires` of an empty scope (`expired_at` set) is when a sweep may delete its row.
const LAYOUT_1: &str = "
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    plugin TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    assistant TEXT NOT NULL,
    thread TEXT NOT NULL,
    bucket TEXT NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    expires INTEGER,
    expired_at INTEGER,
    UNIQUE (tenant, plugin, kind, session, assistant, thread, bucket)
) STRICT;
CREATE INDEX scope_expires ON scope (expires) WHERE expires IS NOT NULL;
CREATE TABLE kv (
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE discarded (
    scope INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE total (
    tenant TEXT NOT NULL PRIMARY KEY,
    scopes INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counter (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_scope INTEGER NOT NULL,
    revision_floor INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (1, 0, 0);
";

// How far hosts have counted time: see `time`.
const LAYOUT_2: &str = "
CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    boot TEXT NOT NULL,
    uptime INTEGER NOT NULL,
    time INTEGER NOT NULL
) STRICT;
";

/// What the file system allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    ReadWrite,
    ReadOnly,
}

/// A database of the current layout.
pub(super) struct OpenedDatabase {
    pub(super) file: DatabaseFile,
    pub(super) access: Access,
    /// Ready for reading.
    pub(super) connection: Connection,
}

/// Opens the database of a place, and creates or updates it where needed.
pub(super) fn open(place: &StatePlace) -> Result<OpenedDatabase, OpenError> {
    open_with(place, LAYOUTS)
}

/// The same for a version that knows these layouts: tests make up later ones.
pub(super) fn open_with(place: &StatePlace, layouts: &[&str]) -> Result<OpenedDatabase, OpenError> {
    let directory = place.directory();
    private_files::make_directory(directory)
        .map_err(|source| OpenError::Directory { path: directory.to_path_buf(), source })?;
    let file = place.database()?;
    match open_writable(&file, layouts) {
        Ok(connection) => Ok(OpenedDatabase { file, access: Access::ReadWrite, connection }),
        Err(OpenFailure::Layout(error)) => Err(error),
        Err(OpenFailure::Storage(error)) if cannot_write(&error) => open_read_only(file, layouts, error),
        Err(OpenFailure::Storage(error)) => Err(unusable(&file, error)),
    }
}

/// Opens the database of a place to read it, and changes nothing of it, not even an older
/// layout. None where there is no store.
pub(super) fn open_as_it_is(place: &StatePlace) -> Result<Option<(DatabaseFile, Connection)>, OpenError> {
    if !place.path().exists() {
        return Ok(None);
    }
    let file = place.database()?;
    Ok(open_file_as_it_is(&file)?.map(|connection| (file, connection)))
}

/// The same of a database that is there.
pub(super) fn open_file_as_it_is(file: &DatabaseFile) -> Result<Option<Connection>, OpenError> {
    let read = |access| {
        let connection = reader(file, access)?;
        let found = layout(&connection, &file.path, LAYOUTS)?;
        Ok((found > 0).then_some(connection))
    };
    let opened = match read(Access::ReadWrite) {
        Err(OpenFailure::Storage(error)) if cannot_write(&error) => read(Access::ReadOnly),
        opened => opened,
    };
    opened.map_err(|failure| match failure {
        OpenFailure::Layout(error) => error,
        OpenFailure::Storage(error) => unusable(file, error),
    })
}

/// Whether it may be that the database can be read and not written.
pub(super) fn cannot_write(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// What is said of a database that cannot be opened.
fn unusable(file: &DatabaseFile, error: rusqlite::Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path: file.path.clone() },
        _ => storage(&file.path, error),
    }
}

enum OpenFailure {
    Layout(OpenError),
    Storage(rusqlite::Error),
}

impl From<rusqlite::Error> for OpenFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error)
    }
}

pub(super) fn storage(path: &Path, error: rusqlite::Error) -> OpenError {
    OpenError::Storage { path: path.to_path_buf(), source: StateError::of_database(error) }
}

fn open_writable(file: &DatabaseFile, layouts: &[&str]) -> Result<Connection, OpenFailure> {
    let connection = connect(file, &file.path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    if layout(&connection, &file.path, layouts)? < layouts.len() as i64 {
        set_up(&connection, &file.path, layouts)?;
    }
    Ok(connection)
}

/// Opens a database that may not be written. Refuses a database that is absent or needs an
/// update first.
fn open_read_only(file: DatabaseFile, layouts: &[&str], cause: rusqlite::Error) -> Result<OpenedDatabase, OpenError> {
    let path = file.path.clone();
    if !path.exists() {
        return Err(OpenError::Storage { path, source: StateError::ReadOnly });
    }
    let Ok(connection) = reader(&file, Access::ReadOnly) else { return Err(storage(&path, cause)) };
    match layout(&connection, &path, layouts) {
        Ok(found) if found == layouts.len() as i64 => Ok(OpenedDatabase { file, access: Access::ReadOnly, connection }),
        Ok(_) => Err(OpenError::Storage { path, source: StateError::ReadOnly }),
        Err(OpenFailure::Layout(error)) => Err(error),
        Err(OpenFailure::Storage(error)) => Err(storage(&path, error)),
    }
}

/// How many layouts the database has; 0 for a new one.
fn layout(connection: &Connection, path: &Path, layouts: &[&str]) -> Result<i64, OpenFailure> {
    let application: i64 = pragma(connection, "application_id")?;
    let found: i64 = pragma(connection, "user_version")?;
    if application != APPLICATION_ID {
        let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        // Another process may have finished the set-up between the two reads.
        let ours =
            application == 0 && found == 0 && objects == 0 || pragma(connection, "application_id")? == APPLICATION_ID;
        return if ours { Ok(0) } else { Err(OpenFailure::Layout(OpenError::Foreign { path: path.to_path_buf() })) };
    }
    let known = layouts.len() as i64;
    if found > known {
        return Err(OpenFailure::Layout(OpenError::Newer { path: path.to_path_buf(), found, known }));
    }
    Ok(found)
}

/// Creates or updates the tables. Where several processes try at once, one of
/// them does it and the others find it done.
fn set_up(connection: &Connection, path: &Path, layouts: &[&str]) -> rusqlite::Result<()> {
    let until = Instant::now() + SETUP_PATIENCE;
    // The log and its index take the mode of the database, so the mode comes first.
    // It is set by path: closing a second descriptor of the file would drop the
    // locks that other connections of this process hold on it.
    make_private(path);
    loop {
        match try_set_up(connection, layouts) {
            Err(error) if is_busy(&error) && Instant::now() < until => {
                thread::sleep(Duration::from_micros(fastrand::u64(200..5_000)));
            }
            done => return done,
        }
    }
}

fn try_set_up(connection: &Connection, layouts: &[&str]) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;")?;
    let done = make_tables(connection, layouts).and_then(|()| connection.execute_batch("COMMIT"));
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}

fn make_tables(connection: &Connection, layouts: &[&str]) -> rusqlite::Result<()> {
    let found: i64 = pragma(connection, "user_version")?;
    for layout in layouts.iter().skip(usize::try_from(found).unwrap_or(0)) {
        connection.execute_batch(layout)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", layouts.len() as i64)
}

/// A connection for reading.
pub(super) fn reader(file: &DatabaseFile, access: Access) -> rusqlite::Result<Connection> {
    if access == Access::ReadWrite {
        return connect(file, &file.path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    }
    let mut log = file.path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        // Another process may write: follow its log.
        return connect(file, &file.path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    }
    // Without a log no process writes now, and SQLite must not make a log itself.
    let uri = immutable_uri(&file.path);
    connect(file, Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// The connection of the writer. It never waits by itself: the writer retries
/// up to the deadline of each operation.
pub(super) fn writer(file: &DatabaseFile, durability: Durability) -> rusqlite::Result<Connection> {
    let connection = connect(file, &file.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(
        None,
        "synchronous",
        match durability {
            Durability::Process => "NORMAL",
            Durability::Power => "FULL",
        },
    )?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn connect(file: &DatabaseFile, name: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = file.connect(name, flags)?;
    connection.busy_timeout(READ_PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Lets only its owner read the database.
#[cfg(unix)]
fn make_private(path: &Path) {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        tracing::warn!(path = %path.display(), %error, "cannot make the state readable by its owner alone");
    }
}

/// On Windows the directory decides who reads it.
#[cfg(not(unix))]
fn make_private(_: &Path) {}
