//! Writes what an import reads to the database, within one transaction that keeps hosts from
//! writing.

use wharf_core::ScopeKey;
use wharf_state::{
    ImportError, ImportMode, InventoryError, StateError,
    transfer::{ImportTarget, MadeBucket},
};

use super::session::Session;
use crate::{names::named, read::signed};

/// Bounds of the entries that go to the database at once.
const BATCH_ENTRIES: usize = 500;
const BATCH_BYTES: usize = 4 << 20;
/// A count of writes that is nearer to the clock than this was raised by an import before.
const NEAR: i64 = 1_000_000;

pub(super) struct DatabaseTarget<'t, 'c> {
    session: &'t Session<'c>,
    now: i64,
    /// This import made every content with a higher number.
    last_content: i64,
    revision: i64,
    /// The number of the open bucket's content.
    open: i64,
    batch: Batch,
}

/// Entries of the open bucket that wait to be written.
#[derive(Default)]
struct Batch {
    lines: Vec<u64>,
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    bytes: usize,
}

impl<'t, 'c> DatabaseTarget<'t, 'c> {
    pub(super) fn begin(session: &'t Session<'c>, now: i64) -> Result<Self, StateError> {
        // Writes wait, reads do not. Nobody takes a revision meanwhile.
        session.execute("LOCK TABLE wharf.scope IN EXCLUSIVE MODE", &[])?;
        let next = "SELECT nextval('wharf.content'), nextval('wharf.revision')";
        let row = session.query_one(next, &[])?;
        let (last_content, mut revision) = (row.get(0), row.get::<_, i64>(1));
        if revision + NEAR < now {
            session.query_one("SELECT setval('wharf.revision', $1)", &[&now])?;
            revision = now;
        }
        Ok(Self { session, now, last_content, revision, open: 0, batch: Batch::default() })
    }

    fn flush(&mut self) -> Result<(), InventoryError> {
        let Batch { lines, keys, values, .. } = std::mem::take(&mut self.batch);
        if keys.is_empty() {
            return Ok(());
        }
        let sql =
            "WITH given AS (SELECT * FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS g (key, value, at)),
            written AS (
                INSERT INTO wharf.kv SELECT DISTINCT ON (g.key) $1, g.key, g.value, $4 FROM given g ORDER BY g.key, g.at
                ON CONFLICT DO NOTHING RETURNING kv.key
            )
            SELECT min(g.at) FROM given g
            WHERE NOT EXISTS (SELECT FROM written w WHERE w.key = g.key)
               OR EXISTS (SELECT FROM given earlier WHERE earlier.key = g.key AND earlier.at < g.at)";
        let row = self.session.query_one(sql, &[&self.open, &keys, &values, &self.revision])?;
        let Some(at) = row.get::<_, Option<i64>>(0) else { return Ok(()) };
        let at = usize::try_from(at - 1).unwrap_or_default();
        let key = keys.get(at).map(|key| String::from_utf8_lossy(key)).unwrap_or_default();
        Err(ImportError::twice(lines.get(at).copied().unwrap_or_default(), &key).into())
    }
}

impl ImportTarget for DatabaseTarget<'_, '_> {
    fn make(&mut self, scope: &ScopeKey, expires: Option<i64>, mode: ImportMode) -> Result<MadeBucket, InventoryError> {
        let names = scope.parts().to_vec();
        let sql = concat!(
            "SELECT s.id, s.entries > 0 AND s.expired_at IS NULL AND (s.expires IS NULL OR s.expires > $2)
            FROM wharf.scope s
            WHERE ",
            named!()
        );
        let mut made = MadeBucket::New;
        if let Some(row) = self.session.query(sql, &[&names, &self.now])?.first() {
            let (content, alive) = (row.get::<_, i64>(0), row.get(1));
            match (content > self.last_content, alive, mode) {
                (true, ..) => return Ok(MadeBucket::Twice),
                (_, true, ImportMode::Refuse) => return Ok(MadeBucket::Occupied),
                (_, true, ImportMode::Replace) => made = MadeBucket::Replaced,
                (_, false, _) => {}
            }
            self.session.query_one("SELECT wharf.remove_1(ARRAY[$1::bigint])", &[&content])?;
        }
        let sql = "INSERT INTO wharf.scope
            SELECT nextval('wharf.content'), ($1::text[])[1], ($1)[2], ($1)[3], ($1)[4], ($1)[5], ($1)[6], ($1)[7], 0, 0,
                   $2::bigint
            RETURNING id";
        self.open = self.session.query_one(sql, &[&names, &expires])?.get(0);
        Ok(made)
    }

    fn put(&mut self, line: u64, key: String, value: Vec<u8>) -> Result<(), InventoryError> {
        self.batch.bytes += key.len() + value.len();
        self.batch.lines.push(line);
        self.batch.keys.push(key.into_bytes());
        self.batch.values.push(value);
        if self.batch.keys.len() < BATCH_ENTRIES && self.batch.bytes < BATCH_BYTES { Ok(()) } else { self.flush() }
    }

    fn close(&mut self, scope: &ScopeKey, entries: u64, bytes: u64) -> Result<(), InventoryError> {
        self.flush()?;
        let (entries, bytes) = (signed(entries), signed(bytes));
        let sql = "UPDATE wharf.scope SET entries = $2, bytes = $3 WHERE id = $1";
        self.session.execute(sql, &[&self.open, &entries, &bytes])?;
        let sql = "SELECT wharf.settle_1(ARRAY[$1::text], ARRAY[1::bigint], ARRAY[$2::bigint])";
        self.session.query_one(sql, &[&scope.tenant.as_str(), &bytes])?;
        Ok(())
    }
}
