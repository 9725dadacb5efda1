//! Buckets by their names: the queries behind a [`BucketSelection`].

use rusqlite::{Connection, Row, ToSql, types::Type};
use wharf_core::{ScopeKey, ScopeKind};

use crate::{
    BucketGroup, BucketSelection, BucketSummary, InventoryError,
    sqlite::{
        fault::{Fault, storage_error},
        read::{self, ScopeRow},
    },
    transfer,
};

/// Buckets with content at `?1` that match every given part. The plus signs keep
/// the order of names, in which the index has the rows, the cheapest plan.
const CHOSEN: &str = "FROM scope WHERE expired_at IS NULL AND entries > 0 AND (expires IS NULL OR +expires > ?1)
    AND (?2 IS NULL OR tenant = ?2) AND (?3 IS NULL OR plugin = ?3) AND (?4 IS NULL OR kind = ?4)
    AND (?5 IS NULL OR session = ?5) AND (?6 IS NULL OR assistant = ?6) AND (?7 IS NULL OR thread = ?7)
    AND (?8 IS NULL OR bucket = ?8)";
const IN_ORDER: &str = "ORDER BY tenant, plugin, kind, session, assistant, thread, bucket";

/// The moment and the parts of a selection, in the order of their numbers in [`CHOSEN`].
fn parameters<'a>(now: &'a i64, parts: &'a [Option<&'a str>; 7]) -> Vec<&'a dyn ToSql> {
    std::iter::once(now as &dyn ToSql).chain(parts.iter().map(|part| part as &dyn ToSql)).collect()
}

pub(super) fn groups(
    connection: &Connection,
    selection: &BucketSelection,
    now: i64,
) -> Result<Vec<BucketGroup>, Fault> {
    let parts = selection.parts();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT tenant, plugin, kind, count(*), sum(entries), sum(bytes), max(entries), max(bytes) {CHOSEN}
         GROUP BY tenant, plugin, kind ORDER BY tenant, plugin, kind"
    ))?;
    let found = statement
        .query_map(&*parameters(&now, &parts), |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(BucketGroup {
                tenant: id(row, 0)?,
                plugin: id(row, 1)?,
                kind: kind(row, 2)?,
                buckets: count(3)?,
                entries: count(4)?,
                bytes: count(5)?,
                most_entries: count(6)?,
                most_bytes: count(7)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(found)
}

/// Calls `each` with each chosen bucket and the number of its content.
pub(super) fn buckets(
    connection: &Connection,
    selection: &BucketSelection,
    now: i64,
    mut each: impl FnMut(i64, BucketSummary) -> Result<(), InventoryError>,
) -> Result<(), InventoryError> {
    let parts = selection.parts();
    let sql = format!(
        "SELECT id, tenant, plugin, kind, session, assistant, thread, bucket, entries, bytes, expires {CHOSEN} {IN_ORDER}"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(storage_error)?;
    let mut rows = statement.query(&*parameters(&now, &parts)).map_err(storage_error)?;
    while let Some(row) = rows.next().map_err(storage_error)? {
        let (content, summary) = summary(row).map_err(storage_error)?;
        each(content, summary)?;
    }
    Ok(())
}

/// Up to `limit` of the chosen buckets, each with its tenant.
pub(super) fn rows(
    connection: &Connection,
    selection: &BucketSelection,
    now: i64,
    limit: u32,
) -> Result<Vec<(String, ScopeRow)>, Fault> {
    let parts = selection.parts();
    let sql = format!("SELECT id, entries, bytes, revision, expires, expired_at, tenant {CHOSEN} {IN_ORDER} LIMIT ?9");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut parameters = parameters(&now, &parts);
    parameters.push(&limit);
    let found =
        statement.query_map(&*parameters, |row| Ok((row.get(6)?, read::row_of_scope(row)?)))?.collect::<Result<_, _>>();
    Ok(found?)
}

fn summary(row: &Row<'_>) -> rusqlite::Result<(i64, BucketSummary)> {
    let scope = ScopeKey {
        tenant: id(row, 1)?,
        plugin: id(row, 2)?,
        kind: kind(row, 3)?,
        session: optional(row, 4)?,
        assistant: optional(row, 5)?,
        thread: optional(row, 6)?,
        bucket: id(row, 7)?,
    };
    let summary = BucketSummary {
        scope,
        entries: row.get::<_, i64>(8)?.cast_unsigned(),
        bytes: row.get::<_, i64>(9)?.cast_unsigned(),
        expires: row.get::<_, Option<i64>>(10)?.and_then(transfer::moment),
    };
    Ok((row.get(0)?, summary))
}

fn id<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let stored = row.get_ref(column)?.as_str()?;
    stored.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// An id that is absent where it is ''.
fn optional<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    if row.get_ref(column)?.as_str()?.is_empty() { Ok(None) } else { id(row, column).map(Some) }
}

fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<ScopeKind> {
    let stored = row.get_ref(column)?.as_str()?;
    ScopeKind::from_word(stored).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("no scope is called {stored:?}").into())
    })
}

/// The entries of one content, in the order of their keys.
pub(super) fn entries(
    connection: &Connection,
    content: i64,
    mut each: impl FnMut(&str, &[u8]) -> Result<(), InventoryError>,
) -> Result<(), InventoryError> {
    let mut statement =
        connection.prepare_cached("SELECT key, value FROM kv WHERE scope = ?1 ORDER BY key").map_err(storage_error)?;
    let mut rows = statement.query([content]).map_err(storage_error)?;
    while let Some(row) = rows.next().map_err(storage_error)? {
        let stored = |column| row.get_ref(column).map_err(storage_error);
        let (key, value) = (stored(0)?, stored(1)?);
        let key = key.as_str().map_err(rusqlite::Error::from).map_err(storage_error)?;
        let value = value.as_blob().map_err(rusqlite::Error::from).map_err(storage_error)?;
        each(key, value)?;
    }
    Ok(())
}
