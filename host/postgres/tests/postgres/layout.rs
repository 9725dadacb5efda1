//! Which databases a store opens, and what it makes there.

use tokio::task::JoinSet;
use wharf_postgres::{DatabaseOpenError, PostgresOptions, PostgresStore};
use wharf_state::StateStore as _;
use wharf_test_support::{postgres::PostgresServer, soon};

use super::{fresh, open, policy, put, raw, session};

/// XXH3 of the released layout. It never changes: the next layout is a file of its own.
const FIRST_LAYOUT: u64 = 15_111_078_229_885_965_042;

#[test]
fn the_first_layout_is_what_it_was_when_it_was_released() {
    let text = include_str!("../../src/layout-1.sql");
    assert_eq!(twox_hash::XxHash3_64::oneshot(text.as_bytes()), FIRST_LAYOUT);
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
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (1, 8));
}

#[tokio::test]
async fn a_database_of_a_later_version_or_of_another_program_is_left_alone() {
    let Some(server) = PostgresServer::start() else { return };
    let later = fresh(&server).await;
    drop(open(&later).await);
    raw(&later).await.batch_execute("INSERT INTO wharf.layout VALUES (7)").await.expect("marked");
    let error = PostgresStore::open(&later, PostgresOptions::default()).await.expect_err("of a later version");
    assert!(matches!(error, DatabaseOpenError::Newer { found: 7, known: 1, .. }), "{error:?}");

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
