//! Several stores on one database, as of several hosts.

use std::sync::Arc;

use tokio::task::JoinSet;
use wharf_postgres::PostgresStore;
use wharf_state::{StateChange, StateError, StateStore as _};
use wharf_test_support::{postgres::PostgresServer, soon};

use super::{fresh, open, policy, put, raw, session};

const HOSTS: u64 = 3;
const TASKS: u64 = 8;
const ROUNDS: u64 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_count_by_compare_and_swap_lose_nothing_and_keep_exact_accounts() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let mut tasks = JoinSet::new();
    for host in 0..HOSTS {
        let store = Arc::new(open(&connection).await);
        for task in 0..TASKS {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                let own = session(&format!("{host}-{task}"));
                for round in 0..ROUNDS {
                    increment(&store).await;
                    let grown = vec![put("own", &vec![0; usize::try_from(round * 100).expect("small")])];
                    store.apply(&own, &policy(), grown, soon()).await.expect("a write");
                    if round % 3 == 2 {
                        let gone = StateChange { key: "own".into(), value: None, if_revision: None };
                        store.apply(&own, &policy(), vec![gone], soon()).await.expect("a deletion");
                    }
                }
            });
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a counting task");
    }
    let store = open(&connection).await;
    let found = store.get_many(&session("counter"), &policy(), &["count".into()], 100).await.expect("read");
    assert_eq!(found[0].as_ref().expect("a count").value, (HOSTS * TASKS * ROUNDS).to_le_bytes());
    assert!(accounts_hold(&connection).await);
}

/// The database's clock is set a year ahead, as by mistake.
#[tokio::test]
async fn a_clock_of_the_database_that_jumps_ends_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (store, scope) = (open(&connection).await, session("s"));
    store.apply(&scope, &policy(), vec![put("key", b"value")], soon()).await.expect("a write");
    for clock in ["now_1", "now_2"] {
        let jump = format!(
            "CREATE OR REPLACE FUNCTION wharf.{clock}() RETURNS bigint LANGUAGE sql VOLATILE AS
            'SELECT (extract(epoch FROM clock_timestamp() + interval ''1 year'') * 1000)::bigint'"
        );
        raw(&connection).await.batch_execute(&jump).await.expect("another clock");
    }
    let swept = store.sweep(store.host_time().passed()).await.expect("a sweep");
    assert_eq!((swept.scopes, swept.bytes), (0, 0));
    let found = store.get_many(&scope, &policy(), &["key".into()], 100).await.expect("a read");
    assert!(found[0].is_some(), "read as expired");
    let more = store.apply(&scope, &policy(), vec![put("more", b"value")], soon()).await;
    more.expect("a write");
    assert_eq!(store.usage(&scope).await.expect("usage").entries, 2, "a write ended what was there");
}

/// A host remembers the number of a content, which ends when another host empties the scope.
#[tokio::test]
async fn a_host_that_has_read_a_scope_sees_what_other_hosts_make_of_it() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (reader, writer, scope) = (open(&connection).await, open(&connection).await, session("s"));
    let read = async || {
        let found = reader.get_many(&scope, &policy(), &["key".into()], 100).await.expect("a read").remove(0);
        found.map(|entry| entry.value)
    };
    assert_eq!(read().await, None, "before the first write");
    for value in [b"first", b"other"] {
        writer.apply(&scope, &policy(), vec![put("key", value)], soon()).await.expect("a write");
        assert_eq!(read().await.as_deref(), Some(&value[..]));
        assert_eq!(read().await.as_deref(), Some(&value[..]), "by the number that it knows now");
        let gone = StateChange { key: "key".into(), value: None, if_revision: None };
        writer.apply(&scope, &policy(), vec![gone], soon()).await.expect("a deletion");
        assert_eq!(read().await, None, "after the last entry was deleted");
    }
}

async fn increment(store: &PostgresStore) {
    let scope = session("counter");
    loop {
        let read = store.get_many(&scope, &policy(), &["count".into()], 100).await.expect("a read").remove(0);
        let (count, revision) = read
            .map_or((0, 0), |entry| (u64::from_le_bytes(entry.value.try_into().expect("eight bytes")), entry.revision));
        let change = StateChange { if_revision: Some(revision), ..put("count", &(count + 1).to_le_bytes()) };
        match store.apply(&scope, &policy(), vec![change], soon()).await {
            Ok(_) => return,
            Err(StateError::Conflict { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// Whether the accounts say what the entries are.
pub(super) async fn accounts_hold(connection: &str) -> bool {
    let sql = "SELECT NOT EXISTS (
            SELECT FROM wharf.scope s LEFT JOIN LATERAL (
                SELECT count(*) AS entries, coalesce(sum(octet_length(k.key) + octet_length(k.value)), 0) AS bytes
                FROM wharf.kv k WHERE k.scope = s.id) AS held ON true
            WHERE s.entries <> held.entries OR s.bytes <> held.bytes
        ) AND NOT EXISTS (
            SELECT FROM (SELECT t.tenant, sum(t.scopes) AS scopes, sum(t.bytes) AS bytes FROM wharf.total t
                         GROUP BY t.tenant) AS account
            LEFT JOIN LATERAL (
                SELECT count(*) AS scopes, coalesce(sum(s.bytes), 0) AS bytes FROM wharf.scope s
                WHERE s.entries > 0 AND account.tenant IN ('', s.tenant)) AS held ON true
            WHERE account.scopes <> held.scopes OR account.bytes <> held.bytes)";
    raw(connection).await.query_one(sql, &[]).await.expect("a check").get(0)
}
