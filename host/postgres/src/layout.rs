//! The tables and functions, and how a database gets those of this version.

use std::time::{Duration, Instant};

use tokio_postgres::{Client, error::SqlState};

use crate::{ConnectionOptions, DatabaseAddress, DatabaseOpenError, connection::Connections, error::is_undone};

/// The layouts in their order; a database stores how many of them it has.
/// A released layout never changes.
const LAYOUTS: &[&str] = &[
    include_str!("layout-1.sql"),
    include_str!("layout-2.sql"),
    include_str!("layout-3.sql"),
    include_str!("layout-4.sql"),
    include_str!("layout-5.sql"),
    include_str!("layout-6.sql"),
];
/// The oldest layout whose hosts may use a database that has all of these: what they call is there
/// and means the same. A layout that takes something away raises it, one version later than the
/// hosts that need it have gone.
const SERVES: i32 = 4;
/// "Whrf", and what the lock is for: the duties of hosts have other numbers.
const LOCK: (i32, i32) = (0x5768_7266, 0);
/// The oldest server that the functions are tested with.
const OLDEST: i32 = 140_000;
/// How long hosts that use the tables may keep a new layout waiting, in all.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the first try waits for one lock. Other hosts wait behind it, and one that holds what
/// it needs may wait for what it holds: it lets go before the server looks for deadlocks, which it
/// does after a second by default and then ends the request of either.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How long later tries wait for one lock: longer than a second, after which the server has its own
/// vacuuming give way.
const LONGEST_WAIT: Duration = Duration::from_millis(1_600);

/// The connections to a database that has the tables of this version.
pub(crate) async fn open(
    address: &DatabaseAddress,
    options: &ConnectionOptions,
) -> Result<Connections, DatabaseOpenError> {
    let connections = address.pool(options);
    let mut first = connections.first(address.shown()).await?;
    set_up(&mut first, address.shown()).await?;
    drop(first);
    Ok(connections)
}

/// Creates or updates the tables where needed. Where several hosts try at once, one of them
/// does it and the others find it done.
pub(crate) async fn set_up(client: &mut Client, at: &str) -> Result<(), DatabaseOpenError> {
    let cannot = |source| DatabaseOpenError::Layout { at: at.to_owned(), source };
    let version = client.query_one("SELECT current_setting('server_version_num')::int, version()", &[]).await;
    let version = version.map_err(cannot)?;
    if version.get::<_, i32>(0) < OLDEST {
        return Err(DatabaseOpenError::Old { at: at.to_owned(), found: version.get(1) });
    }
    if found(client, at).await? == LAYOUTS.len() {
        return Ok(());
    }
    extend(client, at, PATIENCE).await
}

/// Adds the layouts that are missing beside hosts that go on with what they do: a try that cannot
/// have a lock lets all of them go, and comes again.
async fn extend(client: &mut Client, at: &str, patience: Duration) -> Result<(), DatabaseOpenError> {
    let until = Instant::now() + patience;
    let mut wait = FIRST_WAIT;
    loop {
        match try_to_extend(client, at, wait).await {
            Err(DatabaseOpenError::Layout { source, .. }) if is_kept_waiting(&source) => {
                if Instant::now() >= until {
                    return Err(DatabaseOpenError::InUse { at: at.to_owned(), seconds: patience.as_secs(), source });
                }
                tracing::info!(at, "others use the tables of the state, which get a new layout; trying again");
                // The others go on as long as this one has kept them.
                tokio::time::sleep(wait).await;
                wait = LONGEST_WAIT.min(wait * 2);
            }
            ended => return ended,
        }
    }
}

/// Whether others hold what the request needs; it changed nothing.
fn is_kept_waiting(error: &tokio_postgres::Error) -> bool {
    is_undone(error) || error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

async fn try_to_extend(client: &mut Client, at: &str, wait: Duration) -> Result<(), DatabaseOpenError> {
    let cannot = |source| DatabaseOpenError::Layout { at: at.to_owned(), source };
    let transaction = client.transaction().await.map_err(cannot)?;
    transaction.query("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCK.0, &LOCK.1]).await.map_err(cannot)?;
    let before = found(transaction.client(), at).await?;
    let bounded = format!("SET LOCAL lock_timeout = {}", wait.as_millis());
    transaction.batch_execute(&bounded).await.map_err(cannot)?;
    if before == 0 {
        let make = "CREATE SCHEMA wharf; CREATE TABLE wharf.layout (number integer PRIMARY KEY)";
        transaction.batch_execute(make).await.map_err(cannot)?;
    }
    for (layout, number) in LAYOUTS.iter().zip(1..).skip(before) {
        transaction.batch_execute(layout).await.map_err(cannot)?;
        transaction.execute("INSERT INTO wharf.layout VALUES ($1)", &[&number]).await.map_err(cannot)?;
    }
    let last = i32::try_from(LAYOUTS.len()).unwrap_or(i32::MAX);
    let serves = "UPDATE wharf.layout SET serves = $2 WHERE number = $1";
    transaction.execute(serves, &[&last, &SERVES]).await.map_err(cannot)?;
    transaction.commit().await.map_err(cannot)
}

/// How many of the layouts the database has. One that a later version has extended has all of them,
/// where that version serves hosts of this one.
async fn found(client: &Client, at: &str) -> Result<usize, DatabaseOpenError> {
    let cannot = |source| DatabaseOpenError::Layout { at: at.to_owned(), source };
    // Asked of the catalogue, not of its cache: after waiting for another host, this connection
    // would still have cached that there is no such schema.
    let exists = "SELECT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'wharf'),
        EXISTS (SELECT FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
                WHERE n.nspname = 'wharf' AND c.relname = 'layout')";
    let row = client.query_one(exists, &[]).await.map_err(cannot)?;
    match (row.get(0), row.get(1)) {
        (false, _) => return Ok(0),
        (true, false) => return Err(DatabaseOpenError::Foreign { at: at.to_owned() }),
        (true, true) => {}
    }
    let row = client.query_one("SELECT coalesce(max(number), 0) FROM wharf.layout", &[]).await.map_err(cannot)?;
    let (found, known) = (row.get::<_, i32>(0), i32::try_from(LAYOUTS.len()).unwrap_or(i32::MAX));
    if found <= known {
        return Ok(usize::try_from(found).unwrap_or(0));
    }
    // Every later layout has this column.
    let serves = client.query_one("SELECT serves FROM wharf.layout WHERE number = $1", &[&found]).await;
    match serves.map_err(cannot)?.get::<_, Option<i32>>(0) {
        Some(serves) if serves <= known => Ok(LAYOUTS.len()),
        _ => Err(DatabaseOpenError::Newer { at: at.to_owned(), found, known }),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio_postgres::NoTls;
    use wharf_test_support::postgres::PostgresServer;

    use super::*;

    async fn connected(to: &str) -> Client {
        let (client, running) = tokio_postgres::connect(to, NoTls).await.expect("connected");
        tokio::spawn(running);
        client
    }

    #[tokio::test]
    async fn a_transaction_that_does_not_end_is_what_the_error_says() {
        let Some(server) = PostgresServer::start() else { return };
        let database = server.connection("postgres");
        let (mut opening, other) = (connected(&database).await, connected(&database).await);
        let earlier = format!(
            "CREATE SCHEMA wharf; CREATE TABLE wharf.layout (number integer PRIMARY KEY); {}
             INSERT INTO wharf.layout SELECT generate_series(1, 5)",
            LAYOUTS[..5].join(";"),
        );
        other.batch_execute(&earlier).await.expect("what an earlier version made");
        other.batch_execute("BEGIN; SELECT FROM wharf.cell").await.expect("it is read");

        let refused = extend(&mut opening, "here", Duration::ZERO).await.expect_err("the table is read");
        assert!(matches!(refused, DatabaseOpenError::InUse { .. }), "{refused:?}");
        assert!(refused.to_string().contains("pg_stat_activity"), "{refused}");
        assert_eq!(found(&opening, "here").await.expect("layouts"), 5);
        other.batch_execute("COMMIT").await.expect("ended");
        extend(&mut opening, "here", Duration::ZERO).await.expect("nothing keeps it waiting");
        assert_eq!(found(&opening, "here").await.expect("layouts"), LAYOUTS.len());
    }
}
