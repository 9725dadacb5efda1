//! Writes buckets as the lines of an export.

use std::io::Write;

use super::lines::{self, BucketLine, EntryLine, ExportLine};
use crate::{BucketSummary, BucketTotals, InventoryError};

/// An export that is being written. The store hands over each bucket, in the order of their
/// names, and after it its entries, in that of their keys.
pub struct Exporter<'o> {
    out: &'o mut dyn Write,
    totals: BucketTotals,
}

impl<'o> Exporter<'o> {
    /// Writes the first line.
    ///
    /// # Errors
    /// `Write`.
    pub fn begin(out: &'o mut dyn Write) -> Result<Self, InventoryError> {
        lines::write_header(out).map_err(InventoryError::Write)?;
        Ok(Self { out, totals: BucketTotals::default() })
    }

    /// Writes the line of a bucket.
    ///
    /// # Errors
    /// `Write`.
    pub fn bucket(&mut self, bucket: BucketSummary) -> Result<(), InventoryError> {
        let BucketSummary { scope, entries, bytes, expires } = bucket;
        self.totals.add(entries, bytes);
        self.line(&ExportLine::Bucket(BucketLine { scope, entries, bytes, expires }))
    }

    /// Writes an entry of the last bucket.
    ///
    /// # Errors
    /// `Write`.
    pub fn entry(&mut self, key: &str, value: &[u8]) -> Result<(), InventoryError> {
        self.line(&ExportLine::Entry(EntryLine::new(key, value)))
    }

    /// Writes the last line, and tells what was written.
    ///
    /// # Errors
    /// `Write`.
    pub fn finish(mut self) -> Result<BucketTotals, InventoryError> {
        let totals = self.totals;
        self.line(&ExportLine::End(totals))?;
        Ok(totals)
    }

    fn line(&mut self, line: &ExportLine) -> Result<(), InventoryError> {
        lines::write(self.out, line).map_err(InventoryError::Write)
    }
}

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Exporter").field("totals", &self.totals).finish_non_exhaustive()
    }
}
