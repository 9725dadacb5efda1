//! Tests of the store on disk beyond the contract.

mod clocks;
#[cfg(feature = "encryption")]
mod encrypted;
mod files;
mod inventory;
mod migrations;
mod sharing;
mod snapshot;

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use rusqlite::Connection;
use tempfile::TempDir;
use wharf_test_support::soon;

use super::*;
use crate::{Clock, ManualClock, contract};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_the_contract() {
    let directory = temporary();
    let stores = AtomicU32::new(0);
    contract::check(|ceilings, clock| {
        let path = directory.path().join(stores.fetch_add(1, Ordering::Relaxed).to_string());
        let options = SqliteOptions { ceilings, clock, ..SqliteOptions::default() };
        Arc::new(SqliteStore::open(&path, options).expect("a new store"))
    })
    .await;
}

#[tokio::test]
async fn the_accounts_agree_with_the_entries_after_any_history() {
    let directory = temporary();
    let clock = Arc::new(ManualClock::starting_at(SystemTime::UNIX_EPOCH));
    let ceilings = Ceilings { scopes_per_tenant: 4, bytes_per_tenant: 4_000, bytes: 6_000 };
    let options = SqliteOptions { ceilings, clock: Arc::clone(&clock) as Arc<dyn Clock>, ..SqliteOptions::default() };
    let store = SqliteStore::open(directory.path(), options).expect("a new store");
    let policy = ScopePolicy { quota_bytes: 2_000, quota_entries: 10, idle_expiry: Some(Duration::from_secs(20)) };
    let mut random = fastrand::Rng::with_seed(7);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let scope = scope(random.choice(["one", "two"]).expect("some"), &random.u8(0..6).to_string());
        let mut changes: Vec<StateChange> = Vec::new();
        for key in random.choose_multiple('a'..='p', 4) {
            let value = random.bool().then(|| vec![0; random.usize(0..400)]);
            changes.push(StateChange { key: key.into(), value, if_revision: random.u8(0..20).eq(&0).then_some(0) });
        }
        match store.apply(&scope, &policy, changes, soon()).await {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
        clock.advance(Duration::from_secs(random.u64(0..4)));
        if random.u8(0..50) == 0 {
            store.sweep(clock.now()).await.expect("a sweep");
        }
    }
    assert!(accepted > 200 && refused > 200, "{accepted} accepted, {refused} refused: no history worth the name");

    let raw = raw(directory.path());
    let holds = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, bool>(0)).expect("a check");
    assert!(holds(
        "SELECT NOT EXISTS (SELECT 1 FROM scope WHERE entries IS NOT (SELECT count(*) FROM kv WHERE scope = id)
             OR bytes IS NOT (SELECT coalesce(sum(length(CAST(key AS BLOB)) + length(value)), 0) FROM kv WHERE scope = id))"
    ));
    assert!(holds(
        "SELECT NOT EXISTS (SELECT 1 FROM total WHERE tenant <> ''
             AND (scopes, bytes) IS NOT (SELECT count(*), sum(bytes) FROM scope
                 WHERE scope.tenant = total.tenant AND entries > 0))"
    ));
    assert!(holds(
        "SELECT (SELECT scopes FROM total WHERE tenant = '') IS (SELECT sum(scopes) FROM total WHERE tenant <> '')
            AND (SELECT bytes FROM total WHERE tenant = '') IS (SELECT sum(bytes) FROM total WHERE tenant <> '')"
    ));
    assert!(holds("SELECT count(*) > 0 FROM total"));

    clock.advance(Duration::from_secs(20));
    store.sweep(clock.now()).await.expect("a sweep");
    assert!(holds("SELECT NOT EXISTS (SELECT 1 FROM kv) AND NOT EXISTS (SELECT 1 FROM discarded)"));
    assert!(holds("SELECT NOT EXISTS (SELECT 1 FROM total)"));
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, SqliteOptions::default()).expect("a store")
}

/// The database, opened past the store as another program would.
fn raw(directory: &Path) -> Connection {
    Connection::open(directory.join("state.sqlite3")).expect("the database")
}

fn policy() -> ScopePolicy {
    ScopePolicy { quota_bytes: 1 << 30, quota_entries: 100_000, idle_expiry: Some(Duration::from_secs(1_000)) }
}

fn scope(tenant: &str, session: &str) -> ScopeKey {
    ScopeKey {
        tenant: tenant.parse().expect("legal"),
        plugin: "planning".parse().expect("legal"),
        kind: wharf_core::ScopeKind::Session,
        session: Some(session.parse().expect("legal")),
        assistant: None,
        thread: None,
        bucket: "main".parse().expect("legal"),
    }
}

fn put(key: &str, value: &[u8]) -> Vec<StateChange> {
    vec![StateChange { key: key.into(), value: Some(value.into()), if_revision: None }]
}

async fn value(store: &SqliteStore, scope: &ScopeKey, key: &str) -> Option<Vec<u8>> {
    let found = store.get_many(scope, &policy(), &[key.to_owned()], 4 << 20).await.expect("a read").remove(0);
    found.map(|entry| entry.value)
}
