//! State on PostgreSQL beside a bare client of the same server, and beside the file of a data
//! directory that waits for the disk as the server does.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio_postgres::{Client, NoTls, Statement};
use wharf_core::{ScopeKey, ScopeKind};
use wharf_postgres::{PostgresOptions, PostgresStore};
use wharf_state::{Durability, ScopePolicy, SqliteOptions, SqliteStore, StateChange, StateStore};
use wharf_test_support::postgres::PostgresServer;

use crate::{
    Setting,
    engine::runtime,
    report::{Report, median},
};

/// The keys of this file.
pub(crate) const KEYS: [&str; 3] = ["cluster_get", "cluster_apply", "cluster_apply_sqlite"];

const ROUNDS: usize = 20;
const CALLS: usize = 2_000;
/// A small entry, as of a plan.
const VALUE: [u8; 200] = [b'x'; 200];

/// A table of the same columns, and the least that reads and writes an entry of it.
struct Bare {
    client: Client,
    get: Statement,
    put: Statement,
}

impl Bare {
    async fn connect(connection: &str) -> Result<Self> {
        let (client, running) = tokio_postgres::connect(connection, NoTls).await?;
        tokio::spawn(running);
        let table =
            "CREATE TABLE bare (scope bigint, key bytea, value bytea, revision bigint, PRIMARY KEY (scope, key));
            CREATE SEQUENCE bare_revision";
        client.batch_execute(table).await?;
        let get = client.prepare("SELECT value, revision FROM bare WHERE scope = $1 AND key = $2").await?;
        let put = "INSERT INTO bare VALUES ($1, $2, $3, nextval('bare_revision'))
            ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, revision = excluded.revision
            RETURNING revision";
        let put = client.prepare(put).await?;
        Ok(Self { client, get, put })
    }

    async fn get(&self) -> Result<()> {
        let row = self.client.query_one(&self.get, &[&1_i64, &b"key".as_slice()]).await?;
        ensure!(row.get::<_, &[u8]>(0) == VALUE, "another value");
        Ok(())
    }

    async fn put(&self) -> Result<()> {
        let row = self.client.query_one(&self.put, &[&1_i64, &b"key".as_slice(), &VALUE.as_slice()]).await?;
        ensure!(row.get::<_, i64>(0) > 0, "no revision");
        Ok(())
    }
}

/// A store, and what is asked of it.
struct Asked<S> {
    store: S,
    scope: ScopeKey,
    policy: ScopePolicy,
}

impl<S: StateStore> Asked<S> {
    fn new(store: S) -> Result<Self> {
        let scope = ScopeKey {
            tenant: "local".parse()?,
            plugin: "planning".parse()?,
            kind: ScopeKind::Session,
            session: Some("s".parse()?),
            assistant: None,
            thread: None,
            bucket: "main".parse()?,
        };
        let idle_expiry = Some(Duration::from_secs(30 * 24 * 3_600));
        let policy = ScopePolicy { quota_bytes: 64 << 20, quota_entries: 100_000, idle_expiry };
        Ok(Self { store, scope, policy })
    }

    async fn get(&self) -> Result<()> {
        let found = self.store.get_many(&self.scope, &self.policy, &["key".to_owned()], 1 << 20).await?;
        ensure!(found[0].as_ref().is_some_and(|entry| entry.value == VALUE), "another value");
        Ok(())
    }

    async fn put(&self) -> Result<()> {
        let change = StateChange { key: "key".to_owned(), value: Some(VALUE.to_vec()), if_revision: None };
        let until = Instant::now() + Duration::from_secs(60);
        self.store.apply(&self.scope, &self.policy, vec![change], until).await?;
        Ok(())
    }
}

/// Times a future that is made anew for each call: a closure that makes it cannot be sent to
/// another thread.
macro_rules! timed {
    ($times:expr, $calls:expr, $call:expr) => {
        for _ in 0..$calls {
            let began = Instant::now();
            $call.await?;
            $times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    };
}

/// How long each took, in microseconds.
#[derive(Default)]
struct Samples {
    get: Vec<f64>,
    bare_get: Vec<f64>,
    put: Vec<f64>,
    bare_put: Vec<f64>,
    file_put: Vec<f64>,
}

async fn measure(connection: String, data: tempfile::TempDir, rounds: usize, calls: usize) -> Result<Samples> {
    let store = PostgresStore::open(&connection, PostgresOptions::default()).await?;
    let (ours, bare) = (Asked::new(store)?, Bare::connect(&connection).await?);
    let options = SqliteOptions { durability: Durability::Power, ..SqliteOptions::default() };
    let file = Asked::new(SqliteStore::open(data.path(), options)?)?;
    let mut samples = Samples::default();
    // The first round warms up.
    for round in 0..=rounds {
        if round == 1 {
            samples = Samples::default();
        }
        timed!(samples.put, calls / 4 + 1, ours.put());
        timed!(samples.bare_put, calls / 4 + 1, bare.put());
        timed!(samples.file_put, calls / 4 + 1, file.put());
        timed!(samples.get, calls, ours.get());
        timed!(samples.bare_get, calls, bare.get());
    }
    Ok(samples)
}

pub(crate) fn state(setting: &Setting, report: &mut Report) -> Result<()> {
    // It waits for the disk, as servers do.
    let Some(server) = PostgresServer::start_with(|_| "fsync = on\n".to_owned()) else {
        eprintln!("{} are left out: there is no PostgreSQL", KEYS.join(", "));
        return Ok(());
    };
    let (runtime, data) = (runtime(2)?, setting.data()?);
    let (rounds, calls) = (setting.rounds(ROUNDS), setting.calls(CALLS).div_ceil(ROUNDS));
    let connection = server.connection("postgres");
    let measured =
        runtime.block_on(async { tokio::spawn(measure(connection, data, rounds, calls)).await.context("it panicked") });
    let Samples { get, bare_get, put, bare_put, file_put } = measured??;
    let [get, bare_get, put, bare_put, file_put] = [get, bare_get, put, bare_put, file_put].map(median);
    let text = |ours: f64, theirs: f64, what: &str| format!("p50 {ours:.0} us, {what} {theirs:.0} us");
    report.note("cluster_get", get / bare_get, &text(get, bare_get, "a bare client"));
    report.note("cluster_apply", put / bare_put, &text(put, bare_put, "a bare client"));
    report.note("cluster_apply_sqlite", put / file_put, &text(put, file_put, "the file with durable commits"));
    Ok(())
}
