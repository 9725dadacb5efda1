//! From the store to the lines of an export.

use std::io::Write;

use rusqlite::Connection;

use super::select;
use crate::{
    InventoryError, Selection, Totals,
    transfer::{self, BucketLine, EntryLine, Line},
};

/// Runs within a transaction, so that all of it is of one moment.
pub(super) fn run(
    connection: &Connection,
    selection: &Selection,
    now: i64,
    out: &mut dyn Write,
) -> Result<Totals, InventoryError> {
    let mut totals = Totals::default();
    transfer::write_header(out).map_err(InventoryError::Write)?;
    select::buckets(connection, selection, now, |content, bucket| {
        totals.add(bucket.entries, bucket.bytes);
        let line =
            BucketLine { scope: bucket.scope, entries: bucket.entries, bytes: bucket.bytes, expires: bucket.expires };
        transfer::write(out, &Line::Bucket(line)).map_err(InventoryError::Write)?;
        select::entries(connection, content, |key, value| {
            transfer::write(out, &Line::Entry(EntryLine::new(key, value))).map_err(InventoryError::Write)
        })
    })?;
    transfer::write(out, &Line::End(totals)).map_err(InventoryError::Write)?;
    Ok(totals)
}
