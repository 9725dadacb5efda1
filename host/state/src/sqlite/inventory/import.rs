//! From the lines of an export to the store, within one transaction: whatever
//! is refused on the way leaves the store as it was.

use std::io::BufRead;

use rusqlite::{Connection, ffi::ErrorCode, params};
use wharf_core::ScopeKey;

use super::{kept, remove};
use crate::{
    Existing, ImportError, Imported, InventoryError, StateError, Totals,
    rules::{self, Growth},
    sqlite::{Fault, read, storage_error, write},
    transfer::{BucketLine, Line, Lines},
};

pub(super) fn run(
    connection: &Connection,
    from: &mut dyn BufRead,
    existing: Existing,
    now: i64,
) -> Result<Imported, InventoryError> {
    let mut lines = Lines::begin(from)?;
    let mut import = Import::begin(connection, existing, now)?;
    let mut read = Totals::default();
    loop {
        match lines.next()? {
            Line::Bucket(line) => {
                import.finish_bucket(&lines)?;
                read.add(0, 0);
                import.begin_bucket(&lines, line)?;
            }
            Line::Entry(line) => {
                let (key, value) = line.take().map_err(|problem| lines.problem(problem))?;
                read.entries += 1;
                read.bytes += rules::entry_bytes(&key, &value);
                import.entry(&lines, &key, &value)?;
            }
            Line::End(promised) => {
                import.finish_bucket(&lines)?;
                if read != promised {
                    return Err(lines.problem(format!("{} were read", counted(read))).into());
                }
                lines.finish()?;
                return Ok(import.done);
            }
        }
    }
}

fn counted(Totals { buckets, entries, bytes }: Totals) -> String {
    format!("{buckets} buckets with {entries} entries of {bytes} bytes")
}

struct Import<'c> {
    connection: &'c Connection,
    existing: Existing,
    now: i64,
    /// Contents with a higher number were made by this import.
    last_content: i64,
    revision_floor: i64,
    open: Option<Open>,
    done: Imported,
}

/// The bucket whose entries are read.
struct Open {
    promised: BucketLine,
    /// The number of its content and its revision; none where it expired and
    /// is only read.
    content: Option<(i64, i64)>,
    entries: u64,
    bytes: u64,
}

impl<'c> Import<'c> {
    fn begin(connection: &'c Connection, existing: Existing, now: i64) -> Result<Self, StateError> {
        let (last_content, floor): (i64, i64) = connection
            .query_row("SELECT last_scope, revision_floor FROM counter", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(storage_error)?;
        let revision_floor = floor.max(now);
        Ok(Self { connection, existing, now, last_content, revision_floor, open: None, done: Imported::default() })
    }

    fn begin_bucket(&mut self, lines: &Lines<'_>, line: BucketLine) -> Result<(), InventoryError> {
        line.check().map_err(|problem| lines.problem(problem))?;
        let expires = line.expires().map_err(|problem| lines.problem(problem))?;
        let content = if expires.is_some_and(|expires| expires <= self.now) {
            self.done.expired += 1;
            None
        } else {
            Some(self.make(lines, &line.scope, expires)?)
        };
        self.open = Some(Open { promised: line, content, entries: 0, bytes: 0 });
        Ok(())
    }

    /// Makes the bucket, in the place of one that may be there.
    fn make(
        &mut self,
        lines: &Lines<'_>,
        scope: &ScopeKey,
        expires: Option<i64>,
    ) -> Result<(i64, i64), InventoryError> {
        let mut floor = self.revision_floor;
        if let Some(row) = kept(read::scope_row(self.connection, scope))? {
            if row.id > self.last_content {
                return Err(lines.problem("this bucket is there twice").into());
            }
            if row.alive(self.now) && row.entries > 0 {
                if self.existing == Existing::Refuse {
                    return Err(ImportError::Occupied { scope: Box::new(scope.clone()) }.into());
                }
                self.done.replaced += 1;
            }
            floor = floor.max(row.revision);
            kept(remove(self.connection, scope.tenant.as_str(), &row))?;
        }
        let content = kept(write::fresh_id(self.connection))?;
        let revision = floor + 1;
        let [tenant, plugin, kind, session, assistant, thread, bucket] = read::columns(scope);
        let made = self
            .connection
            .prepare_cached(
                "INSERT INTO scope (id, tenant, plugin, kind, session, assistant, thread, bucket, entries, bytes,
                     revision, expires)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9, ?10)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    content, tenant, plugin, kind, session, assistant, thread, bucket, revision, expires
                ])
            });
        made.map_err(storage_error)?;
        Ok((content, revision))
    }

    fn entry(&mut self, lines: &Lines<'_>, key: &str, value: &[u8]) -> Result<(), InventoryError> {
        let Some(open) = &mut self.open else {
            return Err(lines.problem("an entry stands before the first bucket").into());
        };
        open.entries += 1;
        open.bytes += rules::entry_bytes(key, value);
        let Some((content, revision)) = open.content else { return Ok(()) };
        let written = self
            .connection
            .prepare_cached("INSERT INTO kv (scope, key, value, revision) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut insert| insert.execute(params![content, key, value, revision]));
        match written {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(lines.problem(format!("the key {key:?} is there twice")).into())
            }
            Err(error) => Err(storage_error(error).into()),
        }
    }

    /// Enters the bucket whose entries have all been read, if there is one.
    fn finish_bucket(&mut self, lines: &Lines<'_>) -> Result<(), InventoryError> {
        let Some(Open { promised, content, entries, bytes }) = self.open.take() else { return Ok(()) };
        if (entries, bytes) != (promised.entries, promised.bytes) || entries == 0 {
            return Err(lines
                .problem(format!(
                    "the bucket before it says {} entries of {} bytes, and {entries} of {bytes} were read",
                    promised.entries, promised.bytes
                ))
                .into());
        }
        let Some((content, _)) = content else { return Ok(()) };
        self.done.written.add(entries, bytes);
        let enter = || -> Result<(), Fault> {
            self.connection
                .prepare_cached("UPDATE scope SET entries = ?2, bytes = ?3 WHERE id = ?1")?
                .execute(params![content, entries.cast_signed(), bytes.cast_signed()])?;
            let growth = Growth { entries_before: 0, entries_after: entries, bytes_before: 0, bytes_after: bytes };
            write::settle(self.connection, promised.scope.tenant.as_str(), growth)
        };
        Ok(kept(enter())?)
    }
}
