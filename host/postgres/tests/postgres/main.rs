#![cfg(target_os = "linux")]
//! State on a real PostgreSQL server, which each test starts for itself.

mod cell;
mod contract;
mod failures;
mod histories;
mod inventory;
mod layout;
mod plans;
mod sharing;
mod tls;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio_postgres::{Client, NoTls};
use wharf_core::{ScopeKey, ScopeKind};
use wharf_postgres::{PostgresOptions, PostgresStore};
use wharf_state::{ScopePolicy, StateChange};
use wharf_test_support::postgres::PostgresServer;

/// A connection that nothing of ours has made.
async fn raw(connection: &str) -> Client {
    let (client, running) = tokio_postgres::connect(connection, NoTls).await.expect("connected");
    tokio::spawn(running);
    client
}

/// A database that nobody has used.
async fn fresh(server: &PostgresServer) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!("d{}", MADE.fetch_add(1, Ordering::Relaxed));
    let made = raw(&server.connection("postgres")).await.batch_execute(&format!("CREATE DATABASE {name}")).await;
    made.expect("a database");
    server.connection(&name)
}

async fn open(connection: &str) -> PostgresStore {
    PostgresStore::open(connection, PostgresOptions::default()).await.expect("a store")
}

fn policy() -> ScopePolicy {
    ScopePolicy {
        quota_bytes: 64 << 20,
        quota_entries: 100_000,
        idle_expiry: Some(Duration::from_secs(30 * 24 * 3_600)),
    }
}

fn session(session: &str) -> ScopeKey {
    ScopeKey {
        tenant: "local".parse().expect("legal"),
        plugin: "planning".parse().expect("legal"),
        kind: ScopeKind::Session,
        session: Some(session.parse().expect("legal")),
        assistant: None,
        thread: None,
        bucket: "main".parse().expect("legal"),
    }
}

fn put(key: &str, value: &[u8]) -> StateChange {
    StateChange { key: key.into(), value: Some(value.into()), if_revision: None }
}
