//! Writes the lines of an export to the store, within one transaction: an export that is
//! refused half-way leaves the store as it was.

use std::io::BufRead;

use rusqlite::{Connection, ffi::ErrorCode, params};
use wharf_core::ScopeKey;

use crate::{
    BucketTotals, ImportError, ImportMode, ImportReport, InventoryError, StateError,
    rules::{self, Growth},
    sqlite::{
        expire,
        fault::{Fault, storage_error},
        read, write,
    },
    transfer::{BucketLine, ExportLine, ExportReader},
};

pub(super) fn run(
    connection: &Connection,
    from: &mut dyn BufRead,
    mode: ImportMode,
    now: i64,
) -> Result<ImportReport, InventoryError> {
    let mut lines = ExportReader::begin(from)?;
    let mut importer = Importer::begin(connection, mode, now)?;
    let mut read = BucketTotals::default();
    loop {
        match lines.next()? {
            ExportLine::Bucket(line) => {
                importer.finish_bucket(&lines)?;
                read.add(0, 0);
                importer.begin_bucket(&lines, line)?;
            }
            ExportLine::Entry(line) => {
                let (key, value) = line.take().map_err(|problem| lines.problem(problem))?;
                read.entries += 1;
                read.bytes += rules::entry_bytes(&key, &value);
                importer.entry(&lines, &key, &value)?;
            }
            ExportLine::End(promised) => {
                importer.finish_bucket(&lines)?;
                if read != promised {
                    return Err(lines.problem(format!("{} were read", counted(read))).into());
                }
                lines.finish()?;
                return Ok(importer.report);
            }
        }
    }
}

fn counted(BucketTotals { buckets, entries, bytes }: BucketTotals) -> String {
    format!("{buckets} buckets with {entries} entries of {bytes} bytes")
}

struct Importer<'c> {
    connection: &'c Connection,
    mode: ImportMode,
    now: i64,
    /// This import made every content with a higher number.
    last_content: i64,
    revision_floor: i64,
    open: Option<OpenBucket>,
    report: ImportReport,
}

/// The bucket whose entries are being read.
struct OpenBucket {
    promised: BucketLine,
    /// The number of its content and its revision; none for an expired bucket, whose
    /// entries are only counted.
    content: Option<(i64, i64)>,
    entries: u64,
    bytes: u64,
}

impl<'c> Importer<'c> {
    fn begin(connection: &'c Connection, mode: ImportMode, now: i64) -> Result<Self, StateError> {
        let (last_content, floor): (i64, i64) = connection
            .query_row("SELECT last_scope, revision_floor FROM counter", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(storage_error)?;
        let revision_floor = floor.max(now);
        Ok(Self { connection, mode, now, last_content, revision_floor, open: None, report: ImportReport::default() })
    }

    fn begin_bucket(&mut self, lines: &ExportReader<'_>, line: BucketLine) -> Result<(), InventoryError> {
        line.check().map_err(|problem| lines.problem(problem))?;
        let expires = line.expires().map_err(|problem| lines.problem(problem))?;
        let content = if expires.is_some_and(|expires| expires <= self.now) {
            self.report.expired += 1;
            None
        } else {
            Some(self.make(lines, &line.scope, expires)?)
        };
        self.open = Some(OpenBucket { promised: line, content, entries: 0, bytes: 0 });
        Ok(())
    }

    /// Makes the bucket, and removes one of the same name.
    fn make(
        &mut self,
        lines: &ExportReader<'_>,
        scope: &ScopeKey,
        expires: Option<i64>,
    ) -> Result<(i64, i64), InventoryError> {
        let mut floor = self.revision_floor;
        if let Some(row) = read::scope_row(self.connection, scope)? {
            if row.id > self.last_content {
                return Err(lines.problem("this bucket is there twice").into());
            }
            if row.alive(self.now) && row.entries > 0 {
                if self.mode == ImportMode::Refuse {
                    return Err(ImportError::Occupied { scope: Box::new(scope.clone()) }.into());
                }
                self.report.replaced += 1;
            }
            floor = floor.max(row.revision);
            expire::remove(self.connection, scope.tenant.as_str(), &row)?;
        }
        let content = write::fresh_id(self.connection)?;
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

    fn entry(&mut self, lines: &ExportReader<'_>, key: &str, value: &[u8]) -> Result<(), InventoryError> {
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

    /// Accounts for the bucket whose entries have all been read, if there is one.
    fn finish_bucket(&mut self, lines: &ExportReader<'_>) -> Result<(), InventoryError> {
        let Some(OpenBucket { promised, content, entries, bytes }) = self.open.take() else { return Ok(()) };
        if (entries, bytes) != (promised.entries, promised.bytes) || entries == 0 {
            return Err(lines
                .problem(format!(
                    "the bucket before it says {} entries of {} bytes, and {entries} of {bytes} were read",
                    promised.entries, promised.bytes
                ))
                .into());
        }
        let Some((content, _)) = content else { return Ok(()) };
        self.report.written.add(entries, bytes);
        let enter = || -> Result<(), Fault> {
            self.connection
                .prepare_cached("UPDATE scope SET entries = ?2, bytes = ?3 WHERE id = ?1")?
                .execute(params![content, entries.cast_signed(), bytes.cast_signed()])?;
            let growth = Growth { entries_before: 0, entries_after: entries, bytes_before: 0, bytes_after: bytes };
            write::settle(self.connection, promised.scope.tenant.as_str(), growth)
        };
        Ok(enter()?)
    }
}
