//! Changes entries within a transaction of the writer. Checks every precondition
//! before the first change, so that a refused operation leaves the
//! transaction to the others that share it.

use rusqlite::{Connection, OptionalExtension as _, params};
use wharf_core::ScopeKey;

use super::{
    expire,
    fault::Fault,
    read::{self, ScopeRow},
};
use crate::{
    Ceilings, ScopePolicy, StateChange, StateError,
    host_time::Moment,
    rules::{self, Growth, ScopeUse, Total},
};

/// A write extends the life of its scope once a thousandth of the idle time
/// passed: a burst of writes then spares the index of expiries.
const WRITE_PART: i64 = 1_000;

pub(super) fn apply(
    connection: &Connection,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    changes: &[StateChange],
    ceilings: &Ceilings,
    now: Moment,
) -> Result<Vec<u64>, Fault> {
    let mut row = read::scope_row(connection, scope)?;
    if let Some(found) = row
        && !found.is_remains()
        && !found.alive(now.passed)
    {
        row = Some(expire::expire(connection, scope.tenant.as_str(), &found, now.passed)?);
    }
    let growth = check_revisions(connection, row.as_ref(), changes)?;
    if changes.iter().any(|change| change.value.is_some()) {
        growth.check_quotas(scope, policy)?;
        let (tenant, host) = totals(connection, scope.tenant.as_str())?;
        if growth.check_ceilings(ceilings, tenant, host).is_err() {
            // Expired scopes must not cost a tenant its write.
            expire::expire_due(connection, now.passed, expire::AT_ONCE)?;
            let (tenant, host) = totals(connection, scope.tenant.as_str())?;
            growth.check_ceilings(ceilings, tenant, host)?;
        }
    } else if row.is_none() {
        return Ok(vec![0; changes.len()]);
    }

    let row = match row {
        Some(row) => row,
        None => make_scope(connection, scope)?,
    };
    let revision = row.revision + 1;
    let revisions = write_entries(connection, row.id, changes, revision)?;
    if growth.entries_after == 0 {
        remove_scope(connection, &row, revision)?;
    } else {
        update_scope(connection, &row, growth, revision, policy, now.stamp)?;
    }
    settle(connection, scope.tenant.as_str(), growth)?;
    Ok(revisions)
}

/// Records that a scope was read, unless it was written, expired or swept since.
pub(super) fn touch(connection: &Connection, used: &ScopeUse) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE scope SET expires = ?3 WHERE id = ?1 AND expires IS ?2 AND expired_at IS NULL")?
        .execute(params![used.scope, used.seen, used.expires])?;
    Ok(())
}

fn check_revisions(connection: &Connection, row: Option<&ScopeRow>, changes: &[StateChange]) -> Result<Growth, Fault> {
    let (entries, bytes) = row.map_or((0, 0), |row| (row.entries, row.bytes));
    let mut growth =
        Growth { entries_before: entries, entries_after: entries, bytes_before: bytes, bytes_after: bytes };
    let mut statement =
        connection.prepare_cached("SELECT revision, length(value) FROM kv WHERE scope = ?1 AND key = ?2")?;
    for StateChange { key, value, if_revision } in changes {
        let stored = match row {
            Some(row) => statement
                .query_row(params![row.id, key], |stored| Ok((stored.get::<_, i64>(0)?, stored.get::<_, i64>(1)?)))
                .optional()?,
            None => None,
        };
        let revision = stored.map_or(0, |(revision, _)| revision.cast_unsigned());
        if let Some(expected) = *if_revision
            && expected != revision
        {
            return Err(StateError::Conflict { key: key.clone(), expected, found: revision }.into());
        }
        if let Some((_, length)) = stored {
            // Saturating: a damaged row must not take the writer down.
            growth.entries_after = growth.entries_after.saturating_sub(1);
            growth.bytes_after = growth.bytes_after.saturating_sub(key.len() as u64 + length.cast_unsigned());
        }
        if let Some(value) = value {
            growth.entries_after += 1;
            growth.bytes_after += rules::entry_bytes(key, value);
        }
    }
    Ok(growth)
}

fn write_entries(
    connection: &Connection,
    scope: i64,
    changes: &[StateChange],
    revision: i64,
) -> Result<Vec<u64>, Fault> {
    let mut put = connection.prepare_cached(
        "INSERT INTO kv (scope, key, value, revision) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, revision = excluded.revision",
    )?;
    let mut delete = connection.prepare_cached("DELETE FROM kv WHERE scope = ?1 AND key = ?2")?;
    let mut revisions = Vec::with_capacity(changes.len());
    for change in changes {
        match &change.value {
            Some(value) => {
                put.execute(params![scope, change.key, value, revision])?;
                revisions.push(revision.cast_unsigned());
            }
            None => {
                delete.execute(params![scope, change.key])?;
                revisions.push(0);
            }
        }
    }
    Ok(revisions)
}

/// A new scope begins above every revision that a removed scope ever gave.
fn make_scope(connection: &Connection, scope: &ScopeKey) -> Result<ScopeRow, Fault> {
    let revision: i64 =
        connection.prepare_cached("SELECT revision_floor FROM counter")?.query_row([], |row| row.get(0))?;
    let id = fresh_id(connection)?;
    let [tenant, plugin, kind, session, assistant, thread, bucket] = scope.parts();
    connection
        .prepare_cached(
            "INSERT INTO scope (id, tenant, plugin, kind, session, assistant, thread, bucket, entries, bytes, revision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9)",
        )?
        .execute(params![id, tenant, plugin, kind, session, assistant, thread, bucket, revision])?;
    Ok(ScopeRow { id, entries: 0, bytes: 0, revision, expires: None, expired_at: None })
}

pub(super) fn fresh_id(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection
        .prepare_cached("UPDATE counter SET last_scope = last_scope + 1 RETURNING last_scope")?
        .query_row([], |row| row.get(0))?)
}

fn update_scope(
    connection: &Connection,
    row: &ScopeRow,
    growth: Growth,
    revision: i64,
    policy: &ScopePolicy,
    now: i64,
) -> Result<(), Fault> {
    let (entries, bytes) = (growth.entries_after.cast_signed(), growth.bytes_after.cast_signed());
    if row.is_remains() || rules::worth_remembering(policy, row.expires, now, WRITE_PART) {
        let expires = rules::expires_after_use(policy, now);
        connection
            .prepare_cached(
                "UPDATE scope SET entries = ?2, bytes = ?3, revision = ?4, expires = ?5, expired_at = NULL
                 WHERE id = ?1",
            )?
            .execute(params![row.id, entries, bytes, revision, expires])?;
    } else {
        connection
            .prepare_cached("UPDATE scope SET entries = ?2, bytes = ?3, revision = ?4 WHERE id = ?1")?
            .execute(params![row.id, entries, bytes, revision])?;
    }
    Ok(())
}

/// Removes the row of an empty scope; no later scope gives its revisions again.
pub(super) fn remove_scope(connection: &Connection, row: &ScopeRow, revision: i64) -> Result<(), Fault> {
    connection.prepare_cached("DELETE FROM scope WHERE id = ?1")?.execute([row.id])?;
    connection
        .prepare_cached("UPDATE counter SET revision_floor = ?1 WHERE revision_floor < ?1")?
        .execute([revision])?;
    Ok(())
}

/// The totals of the tenant, and of all tenants.
pub(super) fn totals(connection: &Connection, tenant: &str) -> Result<(Total, Total), Fault> {
    let mut statement = connection.prepare_cached("SELECT scopes, bytes FROM total WHERE tenant = ?1")?;
    let mut total = |tenant: &str| {
        statement
            .query_row([tenant], |row| {
                Ok(Total {
                    scopes: row.get::<_, i64>(0)?.cast_unsigned(),
                    bytes: row.get::<_, i64>(1)?.cast_unsigned(),
                })
            })
            .optional()
            .map(Option::unwrap_or_default)
    };
    Ok((total(tenant)?, total("")?))
}

/// Enters a change of one scope into the totals.
pub(super) fn settle(connection: &Connection, tenant: &str, growth: Growth) -> Result<(), Fault> {
    let before = totals(connection, tenant)?;
    let after = (growth.total(before.0), growth.total(before.1));
    if after == before {
        return Ok(());
    }
    let mut store = connection.prepare_cached(
        "INSERT INTO total (tenant, scopes, bytes) VALUES (?1, ?2, ?3)
         ON CONFLICT (tenant) DO UPDATE SET scopes = excluded.scopes, bytes = excluded.bytes",
    )?;
    for (name, total) in [(tenant, after.0), ("", after.1)] {
        if total == Total::default() {
            connection.prepare_cached("DELETE FROM total WHERE tenant = ?1")?.execute([name])?;
        } else {
            store.execute(params![name, total.scopes.cast_signed(), total.bytes.cast_signed()])?;
        }
    }
    Ok(())
}
