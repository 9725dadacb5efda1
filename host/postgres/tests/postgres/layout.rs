//! Which databases a store opens, and what it makes there.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_postgres::Client;
use wharf_postgres::{DatabaseOpenError, PostgresOptions, PostgresStore};
use wharf_state::{StateChange, StateError, StateStore as _};
use wharf_test_support::{postgres::PostgresServer, soon, until_async};

use super::{fresh, open, policy, put, raw, session, sharing::accounts_hold};

/// The released layouts with their XXH3. They never change: the next layout is a file of its own.
const LAYOUTS: [(&str, u64); 6] = [
    (include_str!("../../src/layout-1.sql"), 15_111_078_229_885_965_042),
    (include_str!("../../src/layout-2.sql"), 15_771_244_554_614_064_098),
    (include_str!("../../src/layout-3.sql"), 4_777_201_646_946_410_721),
    (include_str!("../../src/layout-4.sql"), 5_625_982_446_007_844_208),
    (include_str!("../../src/layout-5.sql"), 14_461_264_281_774_075_881),
    (include_str!("../../src/layout-6.sql"), 15_776_505_093_191_340_945),
];

#[test]
fn a_layout_is_what_it_was_when_it_was_released() {
    for (number, (text, digest)) in (1..).zip(LAYOUTS) {
        assert_eq!(twox_hash::XxHash3_64::oneshot(text.as_bytes()), digest, "layout {number}");
    }
}

/// A write as hosts of the first layout make it: the value of one key of the session `shared`.
const FIRST_APPLY: &str = "SELECT outcome, revision FROM wharf.apply_1(
    '{local,planning,session,shared,\"\",\"\",main}', ARRAY[$1::bytea], ARRAY[$2::bytea], ARRAY[$3::bigint],
    100000, 67108864, 2592000000, 1000, 1073741824, 1073741824, 2592000000, wharf.now_1(), NULL)";

async fn first_apply(host: &Client, key: &str, value: &[u8], expected: Option<i64>) -> (String, Option<i64>) {
    let row = host.query_one(FIRST_APPLY, &[&key.as_bytes(), &value, &expected]).await.expect("an answer");
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn a_database_of_the_first_layout_keeps_its_content_and_serves_hosts_of_both_versions() {
    let Some(server) = PostgresServer::start() else { return };
    let (connection, scope) = (fresh(&server).await, session("shared"));
    let older = raw(&connection).await;
    let make = "CREATE SCHEMA wharf; CREATE TABLE wharf.layout (number integer PRIMARY KEY)";
    for sql in [make, LAYOUTS[0].0, "INSERT INTO wharf.layout VALUES (1)"] {
        older.batch_execute(sql).await.expect("the first layout");
    }
    assert_eq!(first_apply(&older, "old", b"before", None).await.0, "done");

    let newer = open(&connection).await;
    let layouts = older.query_one("SELECT max(number) FROM wharf.layout", &[]).await.expect("a layout");
    assert_eq!(layouts.get::<_, i32>(0), 6);
    let found = newer.get_many(&scope, &policy(), &["old".into()], 100).await.expect("a read").remove(0);
    let found = found.expect("what was there before");
    assert_eq!(found.value, b"before");

    // Each version overwrites and adds what the other one reads and then relies on.
    let replaced = StateChange { if_revision: Some(found.revision), ..put("old", b"of the newer host") };
    let revision = newer.apply(&scope, &policy(), vec![replaced], soon()).await.expect("a write")[0];
    let (outcome, _) = first_apply(&older, "old", b"stale", Some(found.revision.cast_signed())).await;
    assert_eq!(outcome, "conflict");
    let (outcome, of_older) = first_apply(&older, "old", b"of the older", Some(revision.cast_signed())).await;
    assert_eq!(outcome, "done");
    let stale = StateChange { if_revision: Some(revision), ..put("old", b"stale") };
    let refused = newer.apply(&scope, &policy(), vec![stale], soon()).await.expect_err("a conflict");
    let of_older = of_older.expect("a revision").cast_unsigned();
    assert!(matches!(refused, StateError::Conflict { found, .. } if found == of_older), "{refused:?}");
    newer.apply(&scope, &policy(), vec![put("new", b"of the newer")], soon()).await.expect("a write");
    assert_eq!(first_apply(&older, "older", b"of the older", Some(0)).await.0, "done");
    assert_eq!(newer.usage(&scope).await.expect("usage").entries, 3);
    assert!(accounts_hold(&connection).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_of_both_versions_that_write_one_scope_at_once_lose_nothing_and_keep_exact_accounts() {
    const ROUNDS: u64 = 40;
    let Some(server) = PostgresServer::start() else { return };
    let (connection, scope) = (fresh(&server).await, session("shared"));
    let newer = Arc::new(open(&connection).await);
    newer.apply(&scope, &policy(), vec![put("count", b"")], soon()).await.expect("a write");
    let mut hosts = JoinSet::new();
    for host in 0..4 {
        let (newer, scope, older) = (Arc::clone(&newer), scope.clone(), raw(&connection).await);
        hosts.spawn(async move {
            let mut made = 0;
            while made < ROUNDS {
                let found = newer.get_many(&scope, &policy(), &["count".into()], 1 << 20).await.expect("a read");
                let found = found.into_iter().flatten().next().expect("a count");
                // A count in the length, so that each write changes the accounts, too.
                let longer = [&found.value[..], b"1"].concat();
                made += if host % 2 == 0 {
                    let change = StateChange { if_revision: Some(found.revision), ..put("count", &longer) };
                    match newer.apply(&scope, &policy(), vec![change], soon()).await {
                        Ok(_) => 1,
                        Err(StateError::Conflict { .. }) => 0,
                        Err(other) => panic!("{other:?}"),
                    }
                } else {
                    let revision = Some(found.revision.cast_signed());
                    match first_apply(&older, "count", &longer, revision).await.0.as_str() {
                        "done" => 1,
                        "conflict" => 0,
                        other => panic!("{other}"),
                    }
                };
            }
        });
    }
    while let Some(ended) = hosts.join_next().await {
        ended.expect("a host");
    }
    let found = newer.get_many(&scope, &policy(), &["count".into()], 1 << 20).await.expect("a read").remove(0);
    assert_eq!(found.expect("a count").value.len() as u64, 4 * ROUNDS);
    assert!(accounts_hold(&connection).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_start_at_once_on_a_new_database_find_one_layout() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let mut opening = JoinSet::new();
    for number in 0..8 {
        let connection = connection.clone();
        opening.spawn(async move {
            let (store, scope) = (open(&connection).await, session(&number.to_string()));
            store.apply(&scope, &policy(), vec![put("key", b"value")], soon()).await.expect("a write");
        });
    }
    while let Some(opened) = opening.join_next().await {
        opened.expect("opened and written");
    }
    let count = "SELECT (SELECT count(*) FROM wharf.layout), (SELECT count(*) FROM wharf.kv)";
    let row = raw(&connection).await.query_one(count, &[]).await.expect("counts");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (6, 8));
}

/// What a host does whose request takes the tables in another order than a new layout does.
#[tokio::test]
async fn a_new_layout_fails_no_request_of_a_host_that_holds_what_it_needs() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (host, watcher) = (raw(&connection).await, raw(&connection).await);
    let make = "CREATE SCHEMA wharf; CREATE TABLE wharf.layout (number integer PRIMARY KEY)";
    host.batch_execute(make).await.expect("made");
    for (layout, number) in LAYOUTS[..5].iter().zip(1..) {
        host.batch_execute(layout.0).await.expect("an earlier layout");
        host.execute("INSERT INTO wharf.layout VALUES ($1)", &[&number]).await.expect("marked");
    }
    host.batch_execute("BEGIN; LOCK TABLE wharf.host IN ROW EXCLUSIVE MODE").await.expect("as of a write");
    let opening = tokio::spawn(async move { PostgresStore::open(&connection, PostgresOptions::default()).await });
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'wharf.host'::regclass)";
    until_async("the layout waits for the host", async || {
        watcher.query_one(waits, &[]).await.expect("an answer").get::<_, bool>(0)
    })
    .await;
    host.batch_execute("SELECT FROM wharf.cell; COMMIT").await.expect("the host is not what gives way");
    opening.await.expect("opened").expect("opened, once the host lets it");
    let row = watcher.query_one("SELECT max(number) FROM wharf.layout", &[]).await.expect("a layout");
    assert_eq!(row.get::<_, i32>(0), 6);
}

#[tokio::test]
async fn a_database_of_a_later_version_that_serves_this_one_is_used_as_it_is() {
    let Some(server) = PostgresServer::start() else { return };
    let (connection, scope) = (fresh(&server).await, session("s"));
    open(&connection).await.apply(&scope, &policy(), vec![put("key", b"value")], soon()).await.expect("a write");
    let database = raw(&connection).await;
    let serves = database.query_one("SELECT serves FROM wharf.layout WHERE number = 6", &[]).await.expect("a layout");
    assert_eq!(serves.get::<_, Option<i32>>(0), Some(4));
    database.batch_execute("INSERT INTO wharf.layout VALUES (7, 6), (8, 6)").await.expect("marked");
    let store = open(&connection).await;
    store.apply(&scope, &policy(), vec![put("other", b"value")], soon()).await.expect("a write");
    assert_eq!(store.usage(&scope).await.expect("usage").entries, 2);
    database.batch_execute("UPDATE wharf.layout SET serves = 7 WHERE number = 8").await.expect("marked");
    let error = PostgresStore::open(&connection, PostgresOptions::default()).await.expect_err("of a later version");
    assert!(matches!(error, DatabaseOpenError::Newer { found: 8, known: 6, .. }), "{error:?}");
}

#[tokio::test]
async fn a_database_of_a_later_version_or_of_another_program_is_left_alone() {
    let Some(server) = PostgresServer::start() else { return };
    let later = fresh(&server).await;
    drop(open(&later).await);
    raw(&later).await.batch_execute("INSERT INTO wharf.layout VALUES (7)").await.expect("marked");
    let error = PostgresStore::open(&later, PostgresOptions::default()).await.expect_err("of a later version");
    assert!(matches!(error, DatabaseOpenError::Newer { found: 7, known: 6, .. }), "{error:?}");

    let foreign = fresh(&server).await;
    raw(&foreign).await.batch_execute("CREATE SCHEMA wharf; CREATE TABLE wharf.ships (name text)").await.expect("made");
    let error = PostgresStore::open(&foreign, PostgresOptions::default()).await.expect_err("of another program");
    assert!(matches!(error, DatabaseOpenError::Foreign { .. }), "{error:?}");
}

#[tokio::test]
async fn a_user_without_rights_is_told_which_it_needs_and_a_wrong_connection_what_is_wrong() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    raw(&connection).await.batch_execute("CREATE ROLE nobody LOGIN").await.expect("a user");
    let of_nobody = connection.replace("user=postgres", "user=nobody");
    let said = |error: DatabaseOpenError| format!("{error}");
    let error = PostgresStore::open(&of_nobody, PostgresOptions::default()).await.expect_err("may make nothing");
    assert!(matches!(&error, DatabaseOpenError::Layout { .. }), "{error:?}");
    let text = said(error);
    assert!(text.contains("user nobody") && text.contains("right to create a schema"), "{text}");

    let wrong = [
        ("dbname=wharf", "names no server"),
        ("host=/nowhere colour=blue", "cannot be read"),
        ("host=/nowhere user=wharf password=hunter2", "cannot connect to the state's database at /nowhere:5432"),
    ];
    for (connection, problem) in wrong {
        let error = PostgresStore::open(connection, PostgresOptions::default()).await.expect_err("not usable");
        let text = said(error);
        assert!(text.contains(problem) && !text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn a_user_who_may_connect_once_can_open_a_store_and_write() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let user = "CREATE ROLE single LOGIN CONNECTION LIMIT 1; DO $$ BEGIN
        EXECUTE format('GRANT CREATE ON DATABASE %I TO single', current_database()); END $$";
    raw(&connection).await.batch_execute(user).await.expect("a user");
    let store = open(&connection.replace("user=postgres", "user=single")).await;
    store.apply(&session("s"), &policy(), vec![put("key", b"value")], soon()).await.expect("a write");
}
