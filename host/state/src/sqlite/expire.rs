//! Ends idle scopes: parts them from their content at once, with exact
//! accounts, and deletes the content in small steps.

use rusqlite::{Connection, params};

use super::{
    fault::Fault,
    read::{self, ScopeRow},
    schema, write,
};
use crate::{SweepTotals, TOMBSTONE_LIFETIME, clock::duration_milliseconds, rules::Growth};

/// Scopes that one write expires before a ceiling refuses it.
pub(super) const AT_ONCE: u32 = 1_000;
/// Bounds of one step: each takes some milliseconds.
const STEP_SCOPES: u32 = 64;
const STEP_ENTRIES: i64 = 500;
const STEP_BYTES: i64 = 4 << 20;
const STEP_PAGES: i64 = 512;
/// Free pages worth giving back: 4 MiB, and a quarter of the file.
const FREE_PAGES: i64 = 1_024;

/// The outcome of one step, and whether it was the last.
pub(super) struct SweepStep {
    pub(super) swept: SweepTotals,
    pub(super) done: bool,
}

pub(super) fn anything_to_do(connection: &Connection, now: i64) -> Result<bool, Fault> {
    let waiting: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM scope WHERE expires <= ?1) OR EXISTS (SELECT 1 FROM discarded)")?
        .query_row([now], |row| row.get(0))?;
    Ok(waiting || much_is_free(connection)?)
}

/// One step of a sweep, a transaction of its own.
pub(super) fn step(connection: &Connection, now: i64) -> Result<SweepStep, Fault> {
    let swept = expire_due(connection, now, STEP_SCOPES)?;
    let done = swept.scopes < u64::from(STEP_SCOPES)
        && !forget_remains(connection, now)?
        && !discard(connection)?
        && !give_back(connection)?;
    Ok(SweepStep { swept, done })
}

/// Expires up to `limit` scopes whose time is over by `now`, the oldest first.
/// Looks them up within the transaction, so that no scope is among them that any process
/// used meanwhile.
pub(super) fn expire_due(connection: &Connection, now: i64, limit: u32) -> Result<SweepTotals, Fault> {
    let due = connection
        .prepare_cached(
            "SELECT id, entries, bytes, revision, expires, expired_at, tenant FROM scope
             WHERE expires <= ?1 AND expired_at IS NULL ORDER BY expires LIMIT ?2",
        )?
        .query_map(params![now, limit], |row| Ok((read::row_of_scope(row)?, row.get::<_, String>(6)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    let mut swept = SweepTotals::default();
    for (row, tenant) in due {
        expire(connection, &tenant, &row, now)?;
        swept.scopes += 1;
        swept.bytes += row.bytes;
    }
    Ok(swept)
}

/// Parts a scope from its content and returns the row that remains.
pub(super) fn expire(connection: &Connection, tenant: &str, row: &ScopeRow, now: i64) -> Result<ScopeRow, Fault> {
    let remains = ScopeRow {
        id: write::fresh_id(connection)?,
        entries: 0,
        bytes: 0,
        revision: row.revision,
        expires: Some(now + duration_milliseconds(TOMBSTONE_LIFETIME)),
        expired_at: row.expires,
    };
    connection
        .prepare_cached(
            "UPDATE scope SET id = ?2, entries = 0, bytes = 0, expires = ?3, expired_at = ?4 WHERE id = ?1",
        )?
        .execute(params![row.id, remains.id, remains.expires, remains.expired_at])?;
    part(connection, tenant, row)?;
    Ok(remains)
}

/// Marks the content of a scope, which has another id or none from now on, for later
/// deletion, and takes it out of the accounts.
pub(super) fn part(connection: &Connection, tenant: &str, row: &ScopeRow) -> Result<(), Fault> {
    if row.entries == 0 {
        return Ok(());
    }
    connection
        .prepare_cached("INSERT INTO discarded (scope, entries, bytes) VALUES (?1, ?2, ?3)")?
        .execute(params![row.id, row.entries.cast_signed(), row.bytes.cast_signed()])?;
    let growth = Growth { entries_before: row.entries, entries_after: 0, bytes_before: row.bytes, bytes_after: 0 };
    write::settle(connection, tenant, growth)
}

/// Removes a bucket; the steps of a sweep delete its content.
pub(super) fn remove(connection: &Connection, tenant: &str, row: &ScopeRow) -> Result<(), Fault> {
    part(connection, tenant, row)?;
    write::remove_scope(connection, row, row.revision)
}

/// Deletes the rows of scopes that expired long ago. Returns whether there may
/// be more.
fn forget_remains(connection: &Connection, now: i64) -> Result<bool, Fault> {
    let old = connection
        .prepare_cached(
            "SELECT id, entries, bytes, revision, expires, expired_at FROM scope
             WHERE expires <= ?1 AND expired_at IS NOT NULL ORDER BY expires LIMIT ?2",
        )?
        .query_map(params![now, STEP_SCOPES], read::row_of_scope)?
        .collect::<Result<Vec<_>, _>>()?;
    for row in &old {
        write::remove_scope(connection, row, row.revision)?;
    }
    Ok(!old.is_empty())
}

/// Deletes some content of expired scopes. Returns whether there may be more.
fn discard(connection: &Connection) -> Result<bool, Fault> {
    let discarded = connection
        .prepare_cached("SELECT scope, entries, bytes FROM discarded LIMIT ?1")?
        .query_map([STEP_SCOPES], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<Vec<(i64, i64, i64)>, _>>()?;
    let any = !discarded.is_empty();
    let (mut entries_left, mut bytes_left) = (STEP_ENTRIES, STEP_BYTES);
    for (scope, entries, bytes) in discarded {
        let average = bytes / entries.max(1) + 1;
        let limit = entries_left.min(bytes_left / average).max(1);
        let deleted = connection
            .prepare_cached(
                "DELETE FROM kv WHERE scope = ?1 AND key IN (SELECT key FROM kv WHERE scope = ?1 LIMIT ?2)",
            )?
            .execute([scope, limit])?;
        let deleted = i64::try_from(deleted).unwrap_or(i64::MAX);
        if deleted < limit || deleted == entries {
            connection.prepare_cached("DELETE FROM discarded WHERE scope = ?1")?.execute([scope])?;
        }
        entries_left -= deleted;
        bytes_left -= deleted.saturating_mul(average);
        if entries_left <= 0 || bytes_left <= 0 {
            break;
        }
    }
    Ok(any)
}

/// Gives some free pages back to the file system. Returns whether there are more.
fn give_back(connection: &Connection) -> Result<bool, Fault> {
    if !much_is_free(connection)? {
        return Ok(false);
    }
    let before = schema::pragma(connection, "freelist_count")?;
    connection.execute_batch(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
    Ok(schema::pragma(connection, "freelist_count")? < before)
}

fn much_is_free(connection: &Connection) -> Result<bool, Fault> {
    let free = schema::pragma(connection, "freelist_count")?;
    Ok(free >= FREE_PAGES && free >= schema::pragma(connection, "page_count")? / 4)
}
