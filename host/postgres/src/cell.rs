//! Who belongs to a cell and which host is the home of a session, in the database of its state.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use tokio_postgres::{Row, types::ToSql};
use wharf_cell::{
    Beat, Claim, Claimant, FilesHere, FilesUse, Homes, HostRecord, HostReport, Incarnation, JoinRefused, Members,
    NewMember, SessionKey, StoreUnavailable,
};

use crate::{ConnectionOptions, DatabaseAddress, DatabaseOpenError, connection::Connections, layout};

/// How long one request may take. A beat is given less by who sends it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections for beats, homes and the list of hosts: not those of the state, so that no call
/// holds up a beat.
const CONNECTIONS: usize = 4;

const LIST: &str = "SELECT h.incarnation, h.host, h.address, h.version, h.beat, now - h.beaten AS silent, h.draining,
        h.dead_at IS NOT NULL AS dead, h.sessions, h.calls, h.told
    FROM wharf.host h, wharf.now_1() AS now
    WHERE h.dead_at IS NULL OR h.dead_at > now - 3600000 ORDER BY h.host, h.incarnation";
const DECLARE_DEAD: &str = "SELECT wharf.declare_dead_1($1, $2)";
const CLAIM: &str = "SELECT outcome, holder, tenure, wait FROM wharf.claim_1($1, $2, $3, $4, $5)";

/// How often a measurement asks.
const MEASURED: usize = 5;

/// How the database of a cell is, as one of its hosts finds it.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseMeasure {
    /// The middle one of five answers.
    pub latency: Duration,
    /// By how much its clock is ahead of the one here.
    pub ahead_milliseconds: i64,
    /// The layout of its tables.
    pub layout: i32,
    /// Connections that are open, of whatever program.
    pub connections: i32,
    /// How many there may be, without those that are kept for its administrator.
    pub most_connections: i32,
}

impl DatabaseMeasure {
    /// Connections that a host with so many for its state takes at most.
    #[must_use]
    pub fn connections_of_a_host(of_state: usize) -> usize {
        of_state.saturating_add(CONNECTIONS)
    }
}

/// The members and homes of a cell, in the database of its state.
#[derive(Debug)]
pub struct PostgresCell {
    connections: Connections,
}

impl PostgresCell {
    /// Connects to the database that `text` names, as libpq's programs take it, and makes or
    /// updates the tables.
    ///
    /// # Errors
    /// Where that fails: see [`DatabaseOpenError`].
    pub async fn open(text: &str, options: &ConnectionOptions) -> Result<Self, DatabaseOpenError> {
        let options = ConnectionOptions { connections: CONNECTIONS, ..options.clone() };
        let address = DatabaseAddress::parse(text, &options)?;
        Ok(Self { connections: layout::open(&address, &options).await? })
    }

    /// Makes all connections now, and has the server plan on each what a death needs. A first
    /// request over a new connection takes many times as long as a later one, and who asks for a
    /// session whose host has died waits for several of them.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn prepare(&self) -> Result<(), StoreUnavailable> {
        let until = Instant::now() + PATIENCE;
        let failed = |error| StoreUnavailable(Box::new(error));
        let clients = (0..CONNECTIONS).map(|_| self.connections.get(until));
        let clients = try_join_all(clients).await.map_err(failed)?;
        // No life is zero: these change nothing.
        let (life, beat, patience, none) = (0_i64, 0_i64, 0_i64, "");
        let asking = clients.iter().map(|client| async move {
            client.query(&client.prepare_cached(LIST).await?, &[]).await?;
            client.query(&client.prepare_cached(DECLARE_DEAD).await?, &[&life, &beat]).await?;
            client.query(&client.prepare_cached(CLAIM).await?, &[&none, &none, &life, &none, &patience]).await?;
            Ok::<_, tokio_postgres::Error>(())
        });
        let asked = tokio::time::timeout_at(until.into(), try_join_all(asking)).await;
        match asked {
            Ok(answered) => answered.map(drop).map_err(|error| StoreUnavailable(Box::new(error))),
            Err(late) => Err(StoreUnavailable(Box::new(late))),
        }
    }

    /// The rows of one statement, which commits by itself.
    pub(crate) async fn ask(
        &self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreUnavailable> {
        let until = Instant::now() + PATIENCE;
        let client = self.connections.get(until).await.map_err(|error| StoreUnavailable(Box::new(error)))?;
        let asking = async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, parameters).await
        };
        match tokio::time::timeout_at(until.into(), asking).await {
            Ok(answered) => answered.map_err(|error| StoreUnavailable(Box::new(error))),
            Err(late) => {
                // Its statement may still run: the next one must not wait behind it.
                drop(Object::take(client));
                Err(StoreUnavailable(Box::new(late)))
            }
        }
    }

    /// Asks the database a few times how it is.
    ///
    /// # Errors
    /// Where it does not answer.
    pub async fn measure(&self) -> Result<DatabaseMeasure, StoreUnavailable> {
        // Background processes of the server have no user.
        let sql = "SELECT wharf.now_1() AS now, (SELECT max(number) FROM wharf.layout) AS layout,
                   current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
                   (SELECT count(usesysid)::int FROM pg_stat_activity) AS used";
        // The first one plans the statement.
        let mut row = self.ask_one(sql, &[]).await?;
        let mut latencies = [Duration::ZERO; MEASURED];
        for latency in &mut latencies {
            let asked = Instant::now();
            row = self.ask_one(sql, &[]).await?;
            *latency = asked.elapsed();
        }
        latencies.sort();
        let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, milliseconds);
        Ok(DatabaseMeasure {
            latency: latencies[MEASURED / 2],
            ahead_milliseconds: row.get::<_, i64>("now").saturating_sub(here),
            layout: row.get("layout"),
            connections: row.get("used"),
            most_connections: row.get("most"),
        })
    }

    /// The one row of a statement.
    pub(crate) async fn ask_one(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, StoreUnavailable> {
        let row = self.ask(sql, parameters).await?.into_iter().next();
        row.ok_or_else(|| StoreUnavailable(Box::new(Odd)))
    }
}

/// The database answers what no version of its functions does.
#[derive(Debug, thiserror::Error)]
#[error("the database of the cell answers what this version does not know")]
struct Odd;

pub(crate) fn odd<T>() -> Result<T, StoreUnavailable> {
    Err(StoreUnavailable(Box::new(Odd)))
}

/// A number that is never negative, as the database keeps it.
pub(crate) fn kept(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[async_trait]
impl Members for PostgresCell {
    async fn join(&self, member: &NewMember) -> Result<Result<(), JoinRefused>, StoreUnavailable> {
        let NewMember { incarnation, cell, host, address, files, version } = member;
        let life = incarnation.to_i64();
        let parameters: [&(dyn ToSql + Sync); 6] = [&life, cell, host, address, files, version];
        let row =
            self.ask_one("SELECT of_cell, refused FROM wharf.join_2($1, $2, $3, $4, $5, $6)", &parameters).await?;
        let found: String = row.get("of_cell");
        if found != *cell {
            return Ok(Err(JoinRefused::OtherCell { found, cell: cell.clone() }));
        }
        Ok(if row.get::<_, Option<&str>>("refused").is_some() { Err(JoinRefused::Taken) } else { Ok(()) })
    }

    async fn beat(&self, incarnation: Incarnation, report: HostReport) -> Result<Beat, StoreUnavailable> {
        let HostReport { sessions, calls, is_ending, told } = report;
        let (life, sessions, calls, told) = (incarnation.to_i64(), kept(sessions), kept(calls), kept(told));
        let rows = self
            .ask(
                "SELECT draining, revision, plugins, front_ends FROM wharf.beat_4($1, $2, $3, $4, $5)",
                &[&life, &sessions, &calls, &is_ending, &told],
            )
            .await?;
        Ok(rows.first().map_or(Beat::Dead, |row| Beat::Alive {
            revision: row.get("revision"),
            plugins: row.get("plugins"),
            front_ends: row.get("front_ends"),
            is_draining: row.get("draining"),
        }))
    }

    async fn list(&self) -> Result<Vec<HostRecord>, StoreUnavailable> {
        let rows = self.ask(LIST, &[]).await?;
        let count = |row: &Row, name: &str| u64::try_from(row.get::<_, i64>(name)).unwrap_or(0);
        let record = |row: Row| {
            let incarnation = Incarnation::from_i64(row.get("incarnation"))?;
            Some(HostRecord {
                incarnation,
                host: row.get("host"),
                address: row.get("address"),
                version: row.get("version"),
                beat: row.get("beat"),
                silent_milliseconds: row.get("silent"),
                is_draining: row.get("draining"),
                is_dead: row.get("dead"),
                report: HostReport {
                    sessions: count(&row, "sessions"),
                    calls: count(&row, "calls"),
                    is_ending: false,
                    told: count(&row, "told"),
                },
            })
        };
        rows.into_iter().map(record).collect::<Option<_>>().map_or_else(odd, Ok)
    }

    async fn declare_dead(&self, incarnation: Incarnation, beat: i64) -> Result<bool, StoreUnavailable> {
        let life = incarnation.to_i64();
        Ok(self.ask_one(DECLARE_DEAD, &[&life, &beat]).await?.get(0))
    }

    async fn drain(&self, host: &str, is_draining: bool) -> Result<bool, StoreUnavailable> {
        Ok(self.ask_one("SELECT wharf.drain_1($1, $2)", &[&host, &is_draining]).await?.get(0))
    }

    async fn leave(&self, incarnation: Incarnation) -> Result<(), StoreUnavailable> {
        self.ask("SELECT wharf.leave_2($1)", &[&incarnation.to_i64()]).await.map(drop)
    }
}

#[async_trait]
impl Homes for PostgresCell {
    async fn claim(&self, session: &SessionKey, claimant: Claimant<'_>) -> Result<Claim, StoreUnavailable> {
        let Claimant { incarnation, files, patience } = claimant;
        let (tenant, name) = (session.tenant.as_str(), session.session.as_str());
        let (life, patience) = (incarnation.to_i64(), milliseconds(patience));
        let row = self.ask_one(CLAIM, &[&tenant, &name, &life, &files, &patience]).await?;
        match row.get("outcome") {
            "mine" => Ok(Claim::Mine { epoch: row.get("tenure") }),
            "held" => Incarnation::from_i64(row.get("holder")).map_or_else(odd, |by| Ok(Claim::Held { by })),
            "files" => Incarnation::from_i64(row.get("holder")).map_or_else(odd, |by| Ok(Claim::FilesAt { by })),
            "dying" => {
                let wait = u64::try_from(row.get::<_, i64>("wait")).unwrap_or(0);
                Ok(Claim::Dying { wait: Duration::from_millis(wait) })
            }
            "dead" => Ok(Claim::ClaimantDead),
            _ => odd(),
        }
    }

    async fn use_files(
        &self,
        session: &SessionKey,
        incarnation: Incarnation,
        here: FilesHere,
    ) -> Result<FilesUse, StoreUnavailable> {
        let (tenant, name) = (session.tenant.as_str(), session.session.as_str());
        let (life, removed) = (incarnation.to_i64(), here == FilesHere::Removed);
        let row = self.ask_one("SELECT wharf.use_files_1($1, $2, $3, $4)", &[&tenant, &name, &life, &removed]).await?;
        Ok(match row.get::<_, Option<bool>>(0) {
            Some(true) => FilesUse::Lost,
            Some(false) => FilesUse::Kept,
            None => FilesUse::NotHome,
        })
    }

    async fn release(&self, tenures: &[(SessionKey, i64)], incarnation: Incarnation) -> Result<(), StoreUnavailable> {
        let tenants: Vec<_> = tenures.iter().map(|(key, _)| key.tenant.as_str()).collect();
        let sessions: Vec<_> = tenures.iter().map(|(key, _)| key.session.as_str()).collect();
        let epochs: Vec<_> = tenures.iter().map(|(_, epoch)| *epoch).collect();
        let sql = "SELECT wharf.release_1($1, $2, $3, $4)";
        self.ask(sql, &[&tenants, &sessions, &epochs, &incarnation.to_i64()]).await.map(drop)
    }
}
