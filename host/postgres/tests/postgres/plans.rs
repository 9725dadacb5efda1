//! How the server runs what a host asks it.

use std::time::SystemTime;

use wharf_cell::contract;
use wharf_postgres::{ConnectionOptions, PostgresCell};
use wharf_state::StateStore as _;
use wharf_test_support::{postgres::PostgresServer, soon};

use super::{fresh, open, policy, put, raw, session};

/// Has the server write down how it runs each statement.
const EXPLAINED: &str = "session_preload_libraries = 'auto_explain'\nauto_explain.log_min_duration = 0\n\
                         auto_explain.log_analyze = on\nauto_explain.log_nested_statements = on\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
async fn the_server_compiles_no_statement() {
    let Some(server) = PostgresServer::start_with(|_| EXPLAINED.to_owned()) else { return };
    let database = raw(&server.connection("postgres")).await;
    let can_compile = database.query_one("SELECT pg_jit_available()", &[]).await.expect("an answer");
    if !can_compile.get::<_, bool>(0) {
        eprintln!("this PostgreSQL has no compiler, so this tests nothing");
        return;
    }
    let (connection, scope) = (fresh(&server).await, session("s"));
    let store = open(&connection).await;
    store.apply(&scope, &policy(), vec![put("one", b"1"), put("two", b"2")], soon()).await.expect("a write");
    let keys = ["one".to_owned(), "two".to_owned()];
    for number in 1..=2 {
        store.get_many(&scope, &policy(), &keys[..number], 100).await.expect("a read");
    }
    store.scan(&scope, &policy(), "", None, 10, 100).await.expect("a scan");
    store.usage(&scope).await.expect("usage");
    store.sweep(SystemTime::now()).await.expect("a sweep");
    let connections = ConnectionOptions { connections: 1, ..ConnectionOptions::default() };
    contract::run(async || {
        let cell = PostgresCell::open(&fresh(&server).await, &connections).await.expect("a cell");
        cell.prepare().await.expect("it answers");
        cell
    })
    .await;
    let said = server.said();
    assert!(said.contains("wharf.beat_4"), "it explains nothing:\n{said}");
    let compiled: Vec<_> = said.match_indices("JIT:").map(|(at, _)| &said[at.saturating_sub(2_000)..at]).collect();
    assert!(compiled.is_empty(), "{} statements are compiled, such as{}", compiled.len(), compiled[0]);
}
