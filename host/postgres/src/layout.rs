//! The tables and functions, and how a database gets those of this version.

use tokio_postgres::Client;

use crate::{ConnectionOptions, DatabaseAddress, DatabaseOpenError, connection::Connections};

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
    let transaction = client.transaction().await.map_err(cannot)?;
    transaction.query("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCK.0, &LOCK.1]).await.map_err(cannot)?;
    let before = found(transaction.client(), at).await?;
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
