//! Reads from the database, each in one snapshot. Nothing here writes:
//! a use that must be recorded is returned to the caller.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use wharf_core::ScopeKey;

use super::{fault::Fault, value_cache::ValueCache};
use crate::{
    EntryPage, KeyPage, ScopePolicy, StateEntry, StateError,
    host_time::Moment,
    rules::{self, ScopeUse},
    scan_range::{ScanRange, ScanStart},
};

/// A row of `scope`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScopeRow {
    pub(super) id: i64,
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) revision: i64,
    pub(super) expires: Option<i64>,
    pub(super) expired_at: Option<i64>,
}

impl ScopeRow {
    pub(super) fn alive(&self, now: i64) -> bool {
        !self.is_remains() && self.expires.is_none_or(|expires| expires > now)
    }

    /// The empty remains of a scope that expired and was swept.
    pub(super) fn is_remains(&self) -> bool {
        self.expired_at.is_some()
    }
}

/// The result of a read, with the use that it was.
pub(super) struct SnapshotRead<T> {
    pub(super) value: T,
    pub(super) used: Option<ScopeUse>,
}

/// The entries that one call reads.
#[derive(Clone, Copy)]
pub(super) struct ReadRequest<'a> {
    pub(super) keys: &'a [String],
    pub(super) max_bytes: u64,
}

pub(super) fn scope_row(connection: &Connection, scope: &ScopeKey) -> Result<Option<ScopeRow>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, entries, bytes, revision, expires, expired_at FROM scope
         WHERE tenant = ?1 AND plugin = ?2 AND kind = ?3 AND session = ?4 AND assistant = ?5 AND thread = ?6
           AND bucket = ?7",
    )?;
    Ok(statement.query_row(scope.parts(), row_of_scope).optional()?)
}

pub(super) fn row_of_scope(row: &rusqlite::Row<'_>) -> rusqlite::Result<ScopeRow> {
    Ok(ScopeRow {
        id: row.get(0)?,
        entries: row.get::<_, i64>(1)?.cast_unsigned(),
        bytes: row.get::<_, i64>(2)?.cast_unsigned(),
        revision: row.get(3)?,
        expires: row.get(4)?,
        expired_at: row.get(5)?,
    })
}

pub(super) fn get_many(
    connection: &Connection,
    cache: &ValueCache,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    request: ReadRequest<'_>,
    now: Moment,
) -> Result<SnapshotRead<Vec<Option<StateEntry>>>, Fault> {
    // One statement is a snapshot by itself, and often enough.
    if let Some(row) = scope_row(connection, scope)?.filter(|row| row.alive(now.passed))
        && let Some(found) = all_cached(cache, &row, request)?
    {
        return Ok(SnapshotRead { value: found, used: used(policy, row, now) });
    }
    let _snapshot = ReadTransaction::begin(connection)?;
    let Some(row) = scope_row(connection, scope)?.filter(|row| row.alive(now.passed)) else {
        return Ok(SnapshotRead { value: vec![None; request.keys.len()], used: None });
    };
    let keep = cache.wants(&row);
    let mut statement = connection.prepare_cached("SELECT value, revision FROM kv WHERE scope = ?1 AND key = ?2")?;
    let mut found = Vec::with_capacity(request.keys.len());
    let mut left = request.max_bytes;
    for key in request.keys {
        if let Some(entry) = cache.get(&row, key) {
            left = take(left, entry.value.len(), request)?;
            found.push(Some(entry));
            continue;
        }
        let mut rows = statement.query(params![row.id, key])?;
        let Some(stored) = rows.next()? else {
            found.push(None);
            continue;
        };
        let value = stored.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        left = take(left, value.len(), request)?;
        let revision = stored.get::<_, i64>(1)?.cast_unsigned();
        let entry = StateEntry { key: key.clone(), value: value.to_vec(), revision };
        if keep {
            cache.keep(&row, &entry);
        }
        found.push(Some(entry));
    }
    Ok(SnapshotRead { value: found, used: used(policy, row, now) })
}

/// The entries of a request, where the cache has all of them.
fn all_cached(
    cache: &ValueCache,
    row: &ScopeRow,
    request: ReadRequest<'_>,
) -> Result<Option<Vec<Option<StateEntry>>>, StateError> {
    let mut found = Vec::with_capacity(request.keys.len());
    let mut left = request.max_bytes;
    for key in request.keys {
        let Some(entry) = cache.get(row, key) else { return Ok(None) };
        left = take(left, entry.value.len(), request)?;
        found.push(Some(entry));
    }
    Ok(Some(found))
}

fn take(left: u64, bytes: usize, request: ReadRequest<'_>) -> Result<u64, StateError> {
    left.checked_sub(bytes as u64).ok_or(StateError::ReadTooLarge { max_bytes: request.max_bytes })
}

/// A page of a scan.
struct ScanPage<T> {
    found: Vec<T>,
    next: Option<String>,
}

/// What a scan reads of each entry.
struct ScanColumns<T> {
    /// From a key on. Key and revision come first.
    from: &'static str,
    /// From the key after one.
    after: &'static str,
    /// What of a row counts, beside its key.
    counted: for<'r> fn(&'r Row<'_>) -> rusqlite::Result<&'r [u8]>,
    /// What is taken of a row that fits.
    entry: fn(String, u64, &Row<'_>) -> rusqlite::Result<T>,
    /// The key of that.
    key: fn(&T) -> &str,
}

const ENTRIES: ScanColumns<StateEntry> = ScanColumns {
    from: "SELECT key, revision, value FROM kv WHERE scope = ?1 AND key >= ?2 ORDER BY key",
    after: "SELECT key, revision, value FROM kv WHERE scope = ?1 AND key > ?2 ORDER BY key",
    counted: |row| Ok(row.get_ref(2)?.as_blob()?),
    entry: |key, revision, row| Ok(StateEntry { key, value: row.get(2)?, revision }),
    key: |entry| &entry.key,
};

/// A long value lies on pages of its own, which these do not touch.
const KEYS: ScanColumns<(String, u64)> = ScanColumns {
    from: "SELECT key, revision FROM kv WHERE scope = ?1 AND key >= ?2 ORDER BY key",
    after: "SELECT key, revision FROM kv WHERE scope = ?1 AND key > ?2 ORDER BY key",
    counted: |_| Ok(&[]),
    entry: |key, revision, _| Ok((key, revision)),
    key: |(key, _)| key,
};

pub(super) fn scan(
    connection: &Connection,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
    now: Moment,
) -> Result<SnapshotRead<EntryPage>, Fault> {
    let SnapshotRead { value: ScanPage { found: entries, next }, used } =
        walk(connection, scope, policy, range, now, &ENTRIES)?;
    Ok(SnapshotRead { value: EntryPage { entries, next }, used })
}

pub(super) fn scan_keys(
    connection: &Connection,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
    now: Moment,
) -> Result<SnapshotRead<KeyPage>, Fault> {
    let SnapshotRead { value: ScanPage { found: keys, next }, used } =
        walk(connection, scope, policy, range, now, &KEYS)?;
    Ok(SnapshotRead { value: KeyPage { keys, next }, used })
}

/// Reads one page, and the `after` of the next one.
fn walk<T>(
    connection: &Connection,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
    now: Moment,
    columns: &ScanColumns<T>,
) -> Result<SnapshotRead<ScanPage<T>>, Fault> {
    let _snapshot = ReadTransaction::begin(connection)?;
    let Some(row) = scope_row(connection, scope)?.filter(|row| row.alive(now.passed)) else {
        return Ok(SnapshotRead { value: ScanPage { found: Vec::new(), next: None }, used: None });
    };
    // The loop ends at the first key without the prefix: no key with it can follow, and
    // the end of a prefix, as a bound in SQL, need not be legal UTF-8.
    let (sql, start) = match range.start() {
        ScanStart::After(key) => (columns.after, key),
        ScanStart::At(key) => (columns.from, key),
    };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![row.id, start])?;
    let (mut room, mut found, mut next) = (range.room(), Vec::new(), None);
    while let Some(stored) = rows.next()? {
        let key = stored.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if !key.starts_with(range.prefix) {
            break;
        }
        if !room.takes(rules::entry_bytes(key, (columns.counted)(stored)?)) {
            next = found.last().map(|entry| (columns.key)(entry).to_owned());
            break;
        }
        let revision = stored.get::<_, i64>(1)?.cast_unsigned();
        found.push((columns.entry)(key.to_owned(), revision, stored)?);
    }
    Ok(SnapshotRead { value: ScanPage { found, next }, used: used(policy, row, now) })
}

fn used(policy: &ScopePolicy, row: ScopeRow, now: Moment) -> Option<ScopeUse> {
    ScopeUse::of_read(policy, row.id, row.expires, now.stamp)
}

/// A transaction in which several statements see one state of the database.
pub(super) struct ReadTransaction<'c>(&'c Connection);

impl<'c> ReadTransaction<'c> {
    pub(super) fn begin(connection: &'c Connection) -> Result<Self, Fault> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(connection))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        // Nothing was written, so nothing is lost; the pool does not keep a connection
        // that is still in a transaction.
        let ended = self.0.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
        if let Err(error) = ended {
            tracing::debug!(%error, "a read transaction did not end");
        }
    }
}
