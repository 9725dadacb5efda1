//! Reads, each one statement and therefore one snapshot. Nothing here writes: a use that must
//! be recorded is returned to the caller.

use tokio_postgres::{Row, types::ToSql};
use wharf_core::ScopeKey;
use wharf_state::{
    EntryPage, KeyPage, ScopePolicy, ScopeUsage, StateEntry, StateError,
    rules::ScopeUse,
    scan_range::{ScanRange, ScanStart},
};

use crate::{
    contents::KnownContents,
    names::named,
    store::{Moments, Work},
};

/// The living scope of a name: $1 is the name's parts, $2 when it is, $3 that of tests.
macro_rules! own {
    () => {
        concat!(
            "WITH moment AS (
            SELECT coalesce($3::bigint, wharf.now_1()) AS stamp,
                   CASE WHEN $3::bigint IS NULL THEN least($2::bigint, wharf.now_1()) ELSE $2 END AS passed
        ), own AS (
            SELECT s.id, s.entries, s.bytes, s.expires, s.expired_at, moment.stamp,
                   s.expired_at IS NULL AND (s.expires IS NULL OR s.expires > moment.passed) AS alive
            FROM moment, wharf.scope s
            WHERE ",
            named!(),
            "
        ) "
        )
    };
}

/// $4 the keys, $5 most bytes of their values. A value comes only where all of them fit.
const GET: &str = concat!(
    own!(),
    "SELECT own.id, own.expires, own.stamp, k.at, k.revision,
            coalesce(sum(k.length) OVER () > $5::bigint, false) AS too_large,
            CASE WHEN sum(k.length) OVER () <= $5::bigint THEN k.value END AS value
     FROM own LEFT JOIN LATERAL (
        SELECT c.at, kv.revision, kv.value, octet_length(kv.value)::bigint AS length
        FROM unnest($4::bytea[]) WITH ORDINALITY AS c (key, at), LATERAL (
            SELECT kv.revision, kv.value FROM wharf.kv WHERE kv.scope = own.id AND kv.key = c.key OFFSET 0
        ) AS kv
     ) AS k ON true
     WHERE own.alive"
);

/// One key, which most calls read: $1 says which scope, $2 is the key, $3 the most bytes of its
/// value, which comes only where it fits. Who asks judges whether the scope is alive.
macro_rules! one {
    ($scope:expr) => {
        concat!(
            "SELECT s.id, s.expires, wharf.now_2(), kv.revision,
                    CASE WHEN octet_length(kv.value) <= $3::bigint THEN kv.value END
             FROM wharf.scope s LEFT JOIN wharf.kv ON kv.scope = s.id AND kv.key = $2::bytea
             WHERE s.expired_at IS NULL AND ",
            $scope
        )
    };
}
const ONE: &str = one!(named!());
const ONE_BY_NUMBER: &str = one!("s.id = $1::bigint");

/// $4 the first key, $5 the first that is too far, $6 most entries, $7 most bytes.
macro_rules! scan {
    ($value:literal, $bytes:literal) => {
        concat!(
            own!(),
            "SELECT own.id, own.expires, own.stamp, page.key, page.revision, page.more, page.value
             FROM own LEFT JOIN LATERAL (
                SELECT walk.*, walk.looked > count(*) OVER () AS more FROM (
                    SELECT near.key, near.revision, near.value, row_number() OVER keys AS number,
                           sum(near.bytes) OVER keys AS total, count(*) OVER () AS looked
                    FROM (
                        SELECT kv.key, kv.revision, ",
            $value,
            " AS value, ",
            $bytes,
            " AS bytes
                        FROM wharf.kv WHERE kv.scope = own.id AND kv.key >= $4::bytea
                          AND kv.key < $5::bytea
                        ORDER BY kv.key LIMIT $6::bigint + 1
                    ) AS near
                    WINDOW keys AS (ORDER BY near.key)
                ) AS walk
                WHERE walk.number = 1 OR walk.number <= $6 AND walk.total <= $7::bigint
             ) AS page ON true
             WHERE own.alive ORDER BY page.key"
        )
    };
}
const SCAN: &str = scan!("kv.value", "octet_length(kv.key) + octet_length(kv.value)");
const SCAN_KEYS: &str = scan!("NULL::bytea", "octet_length(kv.key)");

const LOOK: &str = concat!(own!(), "SELECT own.alive, own.entries, own.bytes, own.expires, own.expired_at FROM own");

/// The result of a read, with the use that it was.
pub(crate) struct ScopeRead<T> {
    pub(crate) value: T,
    pub(crate) used: Option<ScopeUse>,
}

pub(crate) async fn get_many(
    work: &Work<'_>,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    keys: &[String],
    max_bytes: u64,
) -> Result<ScopeRead<Vec<Option<StateEntry>>>, StateError> {
    let asked: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    let most = signed(max_bytes);
    let rows = work.read(GET, scope, &[&asked, &most]).await?;
    let mut found = vec![None; keys.len()];
    for row in &rows {
        let Some(at) = row.get::<_, Option<i64>>("at") else { continue };
        if row.get("too_large") {
            return Err(StateError::ReadTooLarge { max_bytes });
        }
        let at = usize::try_from(at - 1).unwrap_or(usize::MAX);
        let (Some(slot), Some(key)) = (found.get_mut(at), keys.get(at)) else { continue };
        let (value, revision) = (row.get("value"), row.get::<_, i64>("revision").cast_unsigned());
        *slot = Some(StateEntry { key: key.clone(), value, revision });
    }
    Ok(ScopeRead { value: found, used: used(policy, rows.first()) })
}

pub(crate) async fn get_one(
    work: &Work<'_>,
    contents: &KnownContents,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    key: &str,
    max_bytes: u64,
) -> Result<ScopeRead<Vec<Option<StateEntry>>>, StateError> {
    let (asked, most) = (key.as_bytes(), signed(max_bytes));
    let mut rows = Vec::new();
    if let Some(number) = contents.get(scope) {
        rows = work.query(ONE_BY_NUMBER, &[&number, &asked, &most]).await?;
    }
    if rows.is_empty() {
        let names = scope.parts().to_vec();
        rows = work.query(ONE, &[&names, &asked, &most]).await?;
        match rows.first() {
            Some(row) => contents.learn(scope, row.get(0)),
            None => contents.forget(scope),
        }
    }
    let nothing = ScopeRead { value: vec![None], used: None };
    let Some(row) = rows.first() else { return Ok(nothing) };
    let (id, expires) = (row.get(0), row.get::<_, Option<i64>>(1));
    let Moments { passed, stamp } = work.times.at(row.get(2));
    if expires.is_some_and(|expires| expires <= passed) {
        return Ok(nothing);
    }
    let used = ScopeUse::of_read(policy, id, expires, stamp);
    let entry = match (row.get::<_, Option<i64>>(3), row.get(4)) {
        (None, _) => None,
        (Some(_), None) => return Err(StateError::ReadTooLarge { max_bytes }),
        (Some(revision), Some(value)) => {
            Some(StateEntry { key: key.to_owned(), value, revision: revision.cast_unsigned() })
        }
    };
    Ok(ScopeRead { value: vec![entry], used })
}

pub(crate) async fn scan(
    work: &Work<'_>,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
) -> Result<ScopeRead<EntryPage>, StateError> {
    let (rows, used) = walk(work, SCAN, scope, policy, range).await?;
    let mut page = EntryPage::default();
    for (key, row) in keys_of(&rows) {
        page.entries.push(StateEntry { key, value: row.get("value"), revision: revision(row) });
    }
    page.next = page.entries.last().filter(|_| has_more(&rows)).map(|entry| entry.key.clone());
    Ok(ScopeRead { value: page, used })
}

pub(crate) async fn scan_keys(
    work: &Work<'_>,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
) -> Result<ScopeRead<KeyPage>, StateError> {
    let (rows, used) = walk(work, SCAN_KEYS, scope, policy, range).await?;
    let mut page = KeyPage::default();
    for (key, row) in keys_of(&rows) {
        page.keys.push((key, revision(row)));
    }
    page.next = page.keys.last().filter(|_| has_more(&rows)).map(|(key, _)| key.clone());
    Ok(ScopeRead { value: page, used })
}

async fn walk(
    work: &Work<'_>,
    sql: &'static str,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    range: ScanRange<'_>,
) -> Result<(Vec<Row>, Option<ScopeUse>), StateError> {
    let from = match range.start() {
        ScanStart::At(key) => key.as_bytes().to_vec(),
        // No bytes lie between a key and the same key with a zero behind it.
        ScanStart::After(key) => [key.as_bytes(), &[0]].concat(),
    };
    let limit = i64::try_from(range.limit()).unwrap_or(i64::MAX);
    let (until, bytes) = (end_of(range.prefix), signed(range.max_bytes()));
    let parameters: [&(dyn ToSql + Sync); 4] = [&from, &until, &limit, &bytes];
    let rows = work.read(sql, scope, &parameters).await?;
    let used = used(policy, rows.first());
    Ok((rows, used))
}

/// The first bytes behind all keys that have the prefix. UTF-8 has no byte that the last one could
/// not be raised from, and none that is 255: keys of an empty prefix all lie before it.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    match end.last_mut() {
        Some(last) => *last = last.saturating_add(1),
        None => end.push(u8::MAX),
    }
    end
}

/// The rows that have an entry. Keys are written as text; other bytes are none of ours.
fn keys_of(rows: &[Row]) -> impl Iterator<Item = (String, &Row)> {
    rows.iter().filter_map(|row| {
        let key = row.get::<_, Option<Vec<u8>>>("key")?;
        Some((String::from_utf8(key).ok()?, row))
    })
}

fn revision(row: &Row) -> u64 {
    row.get::<_, i64>("revision").cast_unsigned()
}

fn has_more(rows: &[Row]) -> bool {
    rows.first().and_then(|row| row.get::<_, Option<bool>>("more")).unwrap_or(false)
}

/// The content of a scope, or when it expired.
pub(crate) struct ScopeLook {
    pub(crate) usage: ScopeUsage,
    pub(crate) expired_at: Option<i64>,
}

pub(crate) async fn look(work: &Work<'_>, scope: &ScopeKey) -> Result<ScopeLook, StateError> {
    let rows = work.read(LOOK, scope, &[]).await?;
    let nothing = ScopeLook { usage: ScopeUsage::default(), expired_at: None };
    Ok(rows.first().map_or(nothing, |row| {
        if row.get("alive") {
            let count = |column| row.get::<_, i64>(column).cast_unsigned();
            ScopeLook { usage: ScopeUsage { entries: count("entries"), bytes: count("bytes") }, expired_at: None }
        } else {
            let expired_at = row.get::<_, Option<i64>>("expired_at").or(row.get("expires"));
            ScopeLook { usage: ScopeUsage::default(), expired_at }
        }
    }))
}

fn used(policy: &ScopePolicy, row: Option<&Row>) -> Option<ScopeUse> {
    let row = row?;
    ScopeUse::of_read(policy, row.get("id"), row.get("expires"), row.get("stamp"))
}

/// As a number of the database, which has none without a sign.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
