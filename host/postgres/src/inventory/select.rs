//! Buckets by their names: the queries behind a [`BucketSelection`].

use tokio_postgres::{Row, types::ToSql};
use wharf_state::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, InventoryError, StateError,
    transfer::{Exporter, moment},
};

use super::session::Session;
use crate::names::{self, IllegalName};

/// Buckets with content at $1 that match every given part.
macro_rules! chosen {
    () => {
        " FROM wharf.scope s WHERE s.expired_at IS NULL AND s.entries > 0 AND (s.expires IS NULL OR s.expires > $1)
            AND ($2::text IS NULL OR s.tenant = $2) AND ($3::text IS NULL OR s.plugin = $3)
            AND ($4::text IS NULL OR s.kind = $4) AND ($5::text IS NULL OR s.session = $5)
            AND ($6::text IS NULL OR s.assistant = $6) AND ($7::text IS NULL OR s.thread = $7)
            AND ($8::text IS NULL OR s.bucket = $8) "
    };
}
const GROUPS: &str = concat!(
    "SELECT s.tenant, s.plugin, s.kind, count(*), sum(s.entries)::bigint, sum(s.bytes)::bigint, max(s.entries),
            max(s.bytes)",
    chosen!(),
    "GROUP BY s.tenant, s.plugin, s.kind ORDER BY s.tenant, s.plugin, s.kind"
);
const BUCKETS: &str = concat!(
    "SELECT s.id, s.tenant, s.plugin, s.kind, s.session, s.assistant, s.thread, s.bucket, s.entries, s.bytes,
            s.expires",
    chosen!(),
    "ORDER BY s.tenant, s.plugin, s.kind, s.session, s.assistant, s.thread, s.bucket"
);
const REMOVE: &str = concat!(
    "WITH chosen AS (SELECT s.id",
    chosen!(),
    "LIMIT $9 FOR UPDATE)
     SELECT cardinality(all_ids.ids)::bigint, removed.entries, removed.bytes
     FROM (SELECT coalesce(array_agg(chosen.id), '{}') AS ids FROM chosen) AS all_ids,
          LATERAL wharf.remove_1(all_ids.ids) AS removed"
);
/// Rows of contents that are held in memory at once, of up to a mebibyte each.
const AT_ONCE: i32 = 32;

/// The moment and the parts of a selection, in the order of their numbers in the queries.
fn parameters<'a>(now: &'a i64, parts: &'a [Option<&'a str>; 7]) -> Vec<&'a (dyn ToSql + Sync)> {
    std::iter::once(now as &(dyn ToSql + Sync)).chain(parts.iter().map(|part| part as &(dyn ToSql + Sync))).collect()
}

impl From<IllegalName> for StateError {
    fn from(error: IllegalName) -> Self {
        Self::Damaged { source: Box::new(error) }
    }
}

pub(super) fn groups(
    session: &Session<'_>,
    selection: &BucketSelection,
    now: i64,
) -> Result<Vec<BucketGroup>, StateError> {
    let rows = session.query(GROUPS, &parameters(&now, &selection.parts()))?;
    rows.iter()
        .map(|row| {
            let count = |column: usize| row.get::<_, i64>(column).cast_unsigned();
            Ok(BucketGroup {
                tenant: names::id(row, 0)?,
                plugin: names::id(row, 1)?,
                kind: names::kind(row, 2)?,
                buckets: count(3),
                entries: count(4),
                bytes: count(5),
                most_entries: count(6),
                most_bytes: count(7),
            })
        })
        .collect()
}

/// Calls `each` with each chosen bucket and the number of its content.
pub(super) fn buckets(
    session: &Session<'_>,
    selection: &BucketSelection,
    now: i64,
    mut each: impl FnMut(i64, BucketSummary) -> Result<(), InventoryError>,
) -> Result<(), InventoryError> {
    let portal = session.bind(BUCKETS, &parameters(&now, &selection.parts()))?;
    loop {
        let rows = session.next(&portal, 1_000)?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            each(row.get(0), summary(row).map_err(StateError::from)?)?;
        }
    }
}

fn summary(row: &Row) -> Result<BucketSummary, IllegalName> {
    Ok(BucketSummary {
        scope: names::scope(row, 1)?,
        entries: row.get::<_, i64>(8).cast_unsigned(),
        bytes: row.get::<_, i64>(9).cast_unsigned(),
        expires: row.get::<_, Option<i64>>(10).and_then(moment),
    })
}

/// Writes the entries of one content, in the order of their keys.
pub(super) fn entries(session: &Session<'_>, content: i64, export: &mut Exporter<'_>) -> Result<(), InventoryError> {
    let sql = "SELECT kv.key, kv.value FROM wharf.kv WHERE kv.scope = $1 ORDER BY kv.key";
    let portal = session.bind(sql, &[&content])?;
    loop {
        let rows = session.next(&portal, AT_ONCE)?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            let key = std::str::from_utf8(row.get(0)).map_err(|error| StateError::Damaged { source: error.into() })?;
            export.entry(key, row.get(1))?;
        }
    }
}

/// Removes up to `most` of the chosen buckets.
pub(super) fn remove(
    session: &Session<'_>,
    selection: &BucketSelection,
    now: i64,
    most: i64,
) -> Result<BucketTotals, StateError> {
    let parts = selection.parts();
    let mut parameters = parameters(&now, &parts);
    parameters.push(&most);
    let removed = session.query_one(REMOVE, &parameters)?;
    let count = |column: usize| removed.get::<_, i64>(column).cast_unsigned();
    Ok(BucketTotals { buckets: count(0), entries: count(1), bytes: count(2) })
}
