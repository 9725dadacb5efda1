//! Servers that end, locks that others hold, callers that go.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use wharf_state::{StateError, StateStore as _};
use wharf_test_support::{in_time, postgres::PostgresServer, soon, until_async};

use super::{fresh, open, policy, put, raw, session};

/// Whether a write waits for a lock of another transaction.
const WAITS: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND query LIKE '%apply_2%')";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_time_ends_while_it_waits_writes_nothing_and_neither_does_one_that_nobody_awaits() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (store, scope) = (Arc::new(open(&connection).await), session("held"));
    store.apply(&scope, &policy(), vec![put("key", b"before")], soon()).await.expect("a write");
    let holder = raw(&connection).await;
    holder.batch_execute("BEGIN; SELECT FROM wharf.scope FOR UPDATE").await.expect("held");

    let brief = Instant::now() + Duration::from_millis(300);
    let refused = store.apply(&scope, &policy(), vec![put("key", b"late")], brief).await.expect_err("held by another");
    assert!(matches!(refused, StateError::Busy), "{refused:?}");

    let looker = raw(&connection).await;
    let waits = async || looker.query_one(WAITS, &[]).await.expect("a look").get::<_, bool>(0);
    let dropped = {
        let (store, scope) = (Arc::clone(&store), scope.clone());
        tokio::spawn(async move { store.apply(&scope, &policy(), vec![put("key", b"dropped")], soon()).await })
    };
    until_async("the write waits", waits).await;
    dropped.abort();
    until_async("it is cancelled", async || !waits().await).await;

    holder.batch_execute("COMMIT").await.expect("let go");
    let found = store.get_many(&scope, &policy(), &["key".into()], 100).await.expect("a read");
    assert_eq!(found[0].as_ref().expect("an entry").value, b"before");
    in_time("a write", store.apply(&scope, &policy(), vec![put("key", b"after")], soon())).await.expect("free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_is_told_as_that_and_used_again_once_it_is_back() {
    let Some(mut server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (store, scope) = (Arc::new(open(&connection).await), session("s"));
    store.apply(&scope, &policy(), vec![put("key", b"kept")], soon()).await.expect("a write");
    let holder = raw(&connection).await;
    holder.batch_execute("BEGIN; SELECT FROM wharf.scope FOR UPDATE").await.expect("held");
    let caught = {
        let (store, scope) = (Arc::clone(&store), scope.clone());
        tokio::spawn(async move { store.apply(&scope, &policy(), vec![put("key", b"caught")], soon()).await })
    };
    let looker = raw(&connection).await;
    until_async("the write waits", async || looker.query_one(WAITS, &[]).await.expect("a look").get::<_, bool>(0))
        .await;
    server.kill();

    let unknown = in_time("an answer", caught).await.expect("no panic").expect_err("the server ended");
    assert!(matches!(unknown, StateError::Stopped), "{unknown:?}");
    let read = store.get_many(&scope, &policy(), &["key".into()], 100).await.expect_err("no server");
    assert!(matches!(read, StateError::Unreachable { .. }), "{read:?}");
    let written = store.apply(&scope, &policy(), vec![put("key", b"x")], soon()).await.expect_err("no server");
    assert!(matches!(written, StateError::Unreachable { .. }), "{written:?}");

    server.resume();
    let found = store.get_many(&scope, &policy(), &["key".into()], 100).await.expect("a read");
    assert_eq!(found[0].as_ref().expect("an entry").value, b"kept");
    store.apply(&scope, &policy(), vec![put("key", b"again")], soon()).await.expect("a write");
}
