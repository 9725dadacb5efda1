//! The store: what [`StateStore`] promises, kept by the functions of the database.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use async_trait::async_trait;
use deadpool_postgres::Object;
use tokio_postgres::{Row, types::ToSql};
use tokio_postgres_rustls::MakeRustlsConnect;
use wharf_core::ScopeKey;
use wharf_state::{
    Ceilings, Clock, EntryPage, HostTime, KeyPage, ScopePolicy, ScopeUsage, StateChange, StateEntry, StateError,
    StateStore, SweepTotals, from_milliseconds, rules, scan_range::ScanRange, to_milliseconds,
};

use crate::{
    ConnectionOptions, DatabaseAddress, DatabaseOpenError,
    connection::Connections,
    contents::KnownContents,
    error::{Effect, storage_error},
    layout,
    read::{self, ScopeRead},
    sweep::{self, SweepRequest, SweepStep},
    uses::PendingUses,
    write,
};

/// How long a read may wait for a connection and its answer.
const READING: Duration = Duration::from_secs(10);
/// How long the recording of reads may take.
const RECORDING: Duration = Duration::from_secs(5);
/// How long one step of a sweep may take.
const SWEEPING: Duration = Duration::from_secs(30);

/// How a [`PostgresStore`] is opened.
#[derive(Debug, Clone, Default)]
pub struct PostgresOptions {
    /// What all scopes together may hold. Hosts that write at once may exceed it by what is
    /// under way; the quotas of a scope are exact.
    pub ceilings: Ceilings,
    /// How the server is connected to.
    pub connection: ConnectionOptions,
    /// The only source of time, for tests. Without it, a use is stamped by the database's
    /// clock, and expiry is judged by the earlier one of the database's and the host's.
    pub clock: Option<Arc<dyn Clock>>,
}

/// Keeps state in the schema `wharf` of a PostgreSQL database. Any number of hosts may use one
/// database at once.
///
/// A write has returned once the server has committed it, by the server's own
/// `synchronous_commit`. Where the connection breaks before the answer, the write fails with
/// [`StateError::Stopped`]: it may have been made, and it is never sent again.
#[derive(Debug)]
pub struct PostgresStore {
    shared: Arc<Shared>,
    ceilings: Ceilings,
    time: HostTime,
    is_own_time: bool,
}

#[derive(Debug)]
struct Shared {
    address: DatabaseAddress,
    connections: Connections,
    contents: KnownContents,
    uses: PendingUses,
}

/// The times of one request, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The time by which the host judges expiry.
    pub(crate) passed: i64,
    /// With which a use is stamped; none for the database's own time.
    pub(crate) stamp: Option<i64>,
}

/// The moments of a request whose answer says the time of the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    /// By which expiry is judged.
    pub(crate) passed: i64,
    /// With which a use is stamped.
    pub(crate) stamp: i64,
}

impl Times {
    /// The earlier time judges expiry; a time of tests counts alone.
    pub(crate) fn at(self, database: i64) -> Moments {
        match self.stamp {
            Some(stamp) => Moments { passed: self.passed, stamp },
            None => Moments { passed: self.passed.min(database), stamp: database },
        }
    }
}

/// A connection for one request.
pub(crate) struct Work<'s> {
    pub(crate) client: Object,
    pub(crate) times: Times,
    pub(crate) tls: &'s MakeRustlsConnect,
}

impl Work<'_> {
    /// The rows of a statement that only reads, whose first parameters name the scope and the times.
    pub(crate) async fn read(
        &self,
        sql: &str,
        scope: &ScopeKey,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StateError> {
        let names = scope.parts().to_vec();
        let first: [&(dyn ToSql + Sync); 3] = [&names, &self.times.passed, &self.times.stamp];
        let all: Vec<_> = first.into_iter().chain(parameters.iter().copied()).collect();
        self.query(sql, &all).await
    }

    /// The same for a statement that takes its parameters as they are.
    pub(crate) async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StateError> {
        let reading = async {
            let statement = self.client.prepare_cached(sql).await?;
            self.client.query(&statement, parameters).await
        };
        match tokio::time::timeout(READING, reading).await {
            Ok(answered) => answered.map_err(|error| storage_error(error, Effect::None)),
            Err(late) => Err(StateError::Unreachable { source: Box::new(late) }),
        }
    }
}

impl PostgresStore {
    /// Connects to the database that `text` names, as libpq's programs take it, and makes or
    /// updates the tables.
    ///
    /// # Errors
    /// Where that fails: see [`DatabaseOpenError`].
    pub async fn open(text: &str, options: PostgresOptions) -> Result<Self, DatabaseOpenError> {
        let address = DatabaseAddress::parse(text, &options.connection)?;
        let connections = layout::open(&address, &options.connection).await?;
        let is_own_time = options.clock.is_some();
        let time = options.clock.map(HostTime::new).unwrap_or_default();
        let shared =
            Arc::new(Shared { address, connections, contents: KnownContents::default(), uses: PendingUses::default() });
        Ok(Self { shared, ceilings: options.ceilings, time, is_own_time })
    }

    async fn work(&self, until: Instant) -> Result<Work<'_>, StateError> {
        let client = self.shared.connections.get(until).await?;
        let stamp = self.is_own_time.then(|| to_milliseconds(self.time.stamp()));
        let times = Times { passed: to_milliseconds(self.time.passed()), stamp };
        Ok(Work { client, times, tls: self.shared.address.tls() })
    }

    async fn reading(&self) -> Result<Work<'_>, StateError> {
        self.work(Instant::now() + READING).await
    }

    /// Has the use of a scope recorded, without waiting for that.
    fn finish<T>(&self, ScopeRead { value, used }: ScopeRead<T>) -> T {
        if let Some(used) = used
            && self.shared.uses.add(used)
        {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move {
                shared.uses.record(&shared.connections, Instant::now() + RECORDING).await;
            });
        }
        value
    }
}

#[async_trait]
impl StateStore for PostgresStore {
    fn host_time(&self) -> HostTime {
        self.time.clone()
    }

    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<StateEntry>>, StateError> {
        rules::check_keys(keys)?;
        let work = self.reading().await?;
        let read = match keys {
            [key] => read::get_one(&work, &self.shared.contents, scope, policy, key, max_bytes).await?,
            _ => read::get_many(&work, scope, policy, keys, max_bytes).await?,
        };
        Ok(self.finish(read))
    }

    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError> {
        rules::check_changes(&changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.shared.uses.record(&self.shared.connections, until).await;
        let work = self.work(until).await?;
        let applied = write::apply(&work, scope, policy, &changes, &self.ceilings, until).await;
        if matches!(applied, Err(StateError::Stopped)) {
            // It may still run there: nobody is to wait behind it.
            drop(Object::take(work.client));
        }
        applied
    }

    async fn scan(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<EntryPage, StateError> {
        let range = ScanRange::new(prefix, after, limit, max_bytes)?;
        let read = read::scan(&self.reading().await?, scope, policy, range).await?;
        Ok(self.finish(read))
    }

    async fn scan_keys(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<KeyPage, StateError> {
        let range = ScanRange::new(prefix, after, limit, max_bytes)?;
        let read = read::scan_keys(&self.reading().await?, scope, policy, range).await?;
        Ok(self.finish(read))
    }

    async fn usage(&self, scope: &ScopeKey) -> Result<ScopeUsage, StateError> {
        Ok(read::look(&self.reading().await?, scope).await?.usage)
    }

    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError> {
        Ok(read::look(&self.reading().await?, scope).await?.expired_at.map(from_milliseconds))
    }

    async fn sweep(&self, now: SystemTime) -> Result<SweepTotals, StateError> {
        let request = SweepRequest::new(to_milliseconds(now), self.is_own_time);
        let mut swept = SweepTotals::default();
        loop {
            let work = self.work(Instant::now() + SWEEPING).await?;
            let failed = |error| storage_error(error, Effect::Change);
            let statement = work.client.prepare_cached(sweep::STEP).await.map_err(failed)?;
            let step = work.client.query_one(&statement, &request.parameters()).await.map_err(failed)?;
            let step = SweepStep::from(step);
            swept.scopes += step.scopes;
            swept.bytes += step.bytes;
            if !step.more {
                return Ok(swept);
            }
        }
    }
}
