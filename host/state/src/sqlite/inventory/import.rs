//! Writes what an import reads to the database, within one transaction.

use rusqlite::{Connection, ffi::ErrorCode, params};
use wharf_core::ScopeKey;

use crate::{
    ImportError, ImportMode, InventoryError, StateError,
    rules::Growth,
    sqlite::{
        expire,
        fault::{Fault, storage_error},
        read, write,
    },
    transfer::{ImportTarget, MadeBucket},
};

pub(super) struct DatabaseTarget<'c> {
    connection: &'c Connection,
    now: i64,
    /// This import made every content with a higher number.
    last_content: i64,
    revision_floor: i64,
    /// The number of the open bucket's content, and its revision.
    open: (i64, i64),
}

impl<'c> DatabaseTarget<'c> {
    pub(super) fn begin(connection: &'c Connection, now: i64) -> Result<Self, StateError> {
        let (last_content, floor): (i64, i64) = connection
            .query_row("SELECT last_scope, revision_floor FROM counter", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(storage_error)?;
        Ok(Self { connection, now, last_content, revision_floor: floor.max(now), open: (0, 0) })
    }
}

impl ImportTarget for DatabaseTarget<'_> {
    fn make(&mut self, scope: &ScopeKey, expires: Option<i64>, mode: ImportMode) -> Result<MadeBucket, InventoryError> {
        let (mut floor, mut made) = (self.revision_floor, MadeBucket::New);
        if let Some(row) = read::scope_row(self.connection, scope)? {
            if row.id > self.last_content {
                return Ok(MadeBucket::Twice);
            }
            if row.alive(self.now) && row.entries > 0 {
                if mode == ImportMode::Refuse {
                    return Ok(MadeBucket::Occupied);
                }
                made = MadeBucket::Replaced;
            }
            floor = floor.max(row.revision);
            expire::remove(self.connection, scope.tenant.as_str(), &row)?;
        }
        let content = write::fresh_id(self.connection)?;
        let revision = floor + 1;
        let [tenant, plugin, kind, session, assistant, thread, bucket] = scope.parts();
        self.connection
            .prepare_cached(
                "INSERT INTO scope (id, tenant, plugin, kind, session, assistant, thread, bucket, entries, bytes,
                     revision, expires)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9, ?10)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    content, tenant, plugin, kind, session, assistant, thread, bucket, revision, expires
                ])
            })
            .map_err(storage_error)?;
        self.open = (content, revision);
        Ok(made)
    }

    fn put(&mut self, line: u64, key: String, value: Vec<u8>) -> Result<(), InventoryError> {
        let (content, revision) = self.open;
        let written = self
            .connection
            .prepare_cached("INSERT INTO kv (scope, key, value, revision) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut insert| insert.execute(params![content, key, value, revision]));
        match written {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(ImportError::twice(line, &key).into())
            }
            Err(error) => Err(storage_error(error).into()),
        }
    }

    fn close(&mut self, scope: &ScopeKey, entries: u64, bytes: u64) -> Result<(), InventoryError> {
        let enter = || -> Result<(), Fault> {
            self.connection
                .prepare_cached("UPDATE scope SET entries = ?2, bytes = ?3 WHERE id = ?1")?
                .execute(params![self.open.0, entries.cast_signed(), bytes.cast_signed()])?;
            let growth = Growth { entries_before: 0, entries_after: entries, bytes_before: 0, bytes_after: bytes };
            write::settle(self.connection, scope.tenant.as_str(), growth)
        };
        Ok(enter()?)
    }
}
