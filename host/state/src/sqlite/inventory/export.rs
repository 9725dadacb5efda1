//! Writes buckets of the store as the lines of an export.

use std::io::Write;

use rusqlite::Connection;

use super::select;
use crate::{
    BucketSelection, BucketTotals, InventoryError,
    transfer::{self, BucketLine, EntryLine, ExportLine},
};

/// Runs within a transaction, so that the export shows one moment.
pub(super) fn run(
    connection: &Connection,
    selection: &BucketSelection,
    now: i64,
    out: &mut dyn Write,
) -> Result<BucketTotals, InventoryError> {
    let mut totals = BucketTotals::default();
    transfer::write_header(out).map_err(InventoryError::Write)?;
    select::buckets(connection, selection, now, |content, bucket| {
        totals.add(bucket.entries, bucket.bytes);
        let line =
            BucketLine { scope: bucket.scope, entries: bucket.entries, bytes: bucket.bytes, expires: bucket.expires };
        transfer::write(out, &ExportLine::Bucket(line)).map_err(InventoryError::Write)?;
        select::entries(connection, content, |key, value| {
            transfer::write(out, &ExportLine::Entry(EntryLine::new(key, value))).map_err(InventoryError::Write)
        })
    })?;
    transfer::write(out, &ExportLine::End(totals)).map_err(InventoryError::Write)?;
    Ok(totals)
}
