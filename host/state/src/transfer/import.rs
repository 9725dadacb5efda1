//! Reads an export, checks every line, and hands buckets and entries to a store.

use std::io::BufRead;

use wharf_core::ScopeKey;

use super::lines::{BucketLine, ExportLine, ExportReader};
use crate::{BucketTotals, ImportError, ImportMode, ImportReport, InventoryError, rules};

/// A store within one transaction: an export that is refused half-way leaves it as it was.
///
/// Every entry gets a revision that no store ever gave: above every revision of this store,
/// and above the number of milliseconds since 1970, which no store's own count of writes
/// reaches.
pub trait ImportTarget {
    /// Makes a bucket, and removes one of the same name if `mode` allows it. It is open until
    /// [`ImportTarget::close`].
    ///
    /// # Errors
    /// Storage errors.
    fn make(&mut self, scope: &ScopeKey, expires: Option<i64>, mode: ImportMode) -> Result<MadeBucket, InventoryError>;

    /// Writes an entry of the open bucket; `line` is its line in the export.
    ///
    /// # Errors
    /// [`ImportError::twice`] where the key is there already; storage errors. A store may
    /// write later than it is told, until `close`.
    fn put(&mut self, line: u64, key: String, value: Vec<u8>) -> Result<(), InventoryError>;

    /// Ends the open bucket, which has this content.
    ///
    /// # Errors
    /// As [`ImportTarget::put`].
    fn close(&mut self, scope: &ScopeKey, entries: u64, bytes: u64) -> Result<(), InventoryError>;
}

/// What [`ImportTarget::make`] found under the name of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MadeBucket {
    /// Nothing with content.
    New,
    /// Content, which is gone now.
    Replaced,
    /// Content, which the mode protects. Nothing was made.
    Occupied,
    /// A bucket of this import. Nothing was made.
    Twice,
}

/// Reads an export into `target`, at the time `now`.
///
/// # Errors
/// `Import` where the export is refused; the errors of `target`.
pub fn import(
    from: &mut dyn BufRead,
    mode: ImportMode,
    now: i64,
    target: &mut dyn ImportTarget,
) -> Result<ImportReport, InventoryError> {
    let mut lines = ExportReader::begin(from)?;
    let mut importer = Importer { target, mode, now, open: None, report: ImportReport::default() };
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
                importer.entry(&lines, key, value)?;
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

struct Importer<'t> {
    target: &'t mut dyn ImportTarget,
    mode: ImportMode,
    now: i64,
    open: Option<OpenBucket>,
    report: ImportReport,
}

/// The bucket whose entries are being read.
struct OpenBucket {
    promised: BucketLine,
    /// Whether it has expired since the export: its entries are only counted.
    expired: bool,
    entries: u64,
    bytes: u64,
}

impl Importer<'_> {
    fn begin_bucket(&mut self, lines: &ExportReader<'_>, line: BucketLine) -> Result<(), InventoryError> {
        line.check().map_err(|problem| lines.problem(problem))?;
        let expires = line.expires().map_err(|problem| lines.problem(problem))?;
        let expired = expires.is_some_and(|expires| expires <= self.now);
        if expired {
            self.report.expired += 1;
        } else {
            match self.target.make(&line.scope, expires, self.mode)? {
                MadeBucket::New => {}
                MadeBucket::Replaced => self.report.replaced += 1,
                MadeBucket::Occupied => return Err(ImportError::Occupied { scope: Box::new(line.scope) }.into()),
                MadeBucket::Twice => return Err(lines.problem("this bucket is there twice").into()),
            }
        }
        self.open = Some(OpenBucket { promised: line, expired, entries: 0, bytes: 0 });
        Ok(())
    }

    fn entry(&mut self, lines: &ExportReader<'_>, key: String, value: Vec<u8>) -> Result<(), InventoryError> {
        let Some(open) = &mut self.open else {
            return Err(lines.problem("an entry stands before the first bucket").into());
        };
        open.entries += 1;
        open.bytes += rules::entry_bytes(&key, &value);
        if open.expired { Ok(()) } else { self.target.put(lines.number, key, value) }
    }

    /// Accounts for the bucket whose entries have all been read, if there is one.
    fn finish_bucket(&mut self, lines: &ExportReader<'_>) -> Result<(), InventoryError> {
        let Some(OpenBucket { promised, expired, entries, bytes }) = self.open.take() else { return Ok(()) };
        if (entries, bytes) != (promised.entries, promised.bytes) || entries == 0 {
            return Err(lines
                .problem(format!(
                    "the bucket before it says {} entries of {} bytes, and {entries} of {bytes} were read",
                    promised.entries, promised.bytes
                ))
                .into());
        }
        if expired {
            return Ok(());
        }
        self.report.written.add(entries, bytes);
        self.target.close(&promised.scope, entries, bytes)
    }
}
