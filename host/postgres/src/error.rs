//! Why a database cannot be used, and what its errors mean for a store.

use std::{path::PathBuf, time::Instant};

use tokio_postgres::error::SqlState;
use wharf_core::text::with_causes;
use wharf_state::{FailureLog, InventoryError, StateError};

/// Why a store on PostgreSQL cannot be opened. For the operator: it names servers, and no
/// password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseOpenError {
    /// The text of the connection is not legal.
    #[error(
        "the connection of the state's database cannot be read; it is as for psql, such as \
         `host=db.example.com dbname=wharf user=wharf password=… sslmode=require` or `postgresql://…`"
    )]
    Text(#[source] tokio_postgres::Error),
    /// The text of the connection names no server.
    #[error("the connection of the state's database names no server; write `host=…`, or a folder with its socket")]
    NoHost,
    /// The authorities that sign the server's certificate cannot be read.
    #[error("cannot read certificates of authorities in {}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The system's own certificates cannot be read.
    #[error("cannot read the certificates that this system trusts")]
    SystemAuthorities(#[source] rustls::Error),
    /// The server cannot be reached, or refuses the user.
    #[error("cannot connect to the state's database at {at}")]
    Connect {
        /// Server, port, database and user.
        at: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server is too old.
    #[error("the state's database at {at} is PostgreSQL {found}; Wharf needs 14 or later")]
    Old {
        /// Server, port, database and user.
        at: String,
        /// Its version.
        found: String,
    },
    /// Another program owns the schema.
    #[error("the database at {at} has a schema `wharf` that another program made; give Wharf a database of its own")]
    Foreign {
        /// Server, port, database and user.
        at: String,
    },
    /// A later version made the tables.
    #[error(
        "the state's database at {at} has layout {found} and this version of Wharf knows layouts up to {known}; use \
         the version that made it"
    )]
    Newer {
        /// Server, port, database and user.
        at: String,
        /// Its layout.
        found: i32,
        /// The latest layout that this version knows.
        known: i32,
    },
    /// Others hold the tables that get a new layout.
    #[error(
        "the tables of the state's database at {at} get a new layout, and transactions of others have kept them for \
         {seconds} s; `SELECT * FROM pg_stat_activity` shows which: end them, and start again"
    )]
    InUse {
        /// Server, port, database and user.
        at: String,
        /// How long this waited.
        seconds: u64,
        /// The database's last error.
        source: tokio_postgres::Error,
    },
    /// The tables cannot be made or read.
    #[error(
        "cannot set up the state in the database at {at}; its user needs the right to create a schema there, or to \
         use the schema `wharf`"
    )]
    Layout {
        /// Server, port, database and user.
        at: String,
        /// The database's error.
        source: tokio_postgres::Error,
    },
}

impl From<DatabaseOpenError> for InventoryError {
    fn from(error: DatabaseOpenError) -> Self {
        Self::Server(Box::new(error))
    }
}

/// The failures of all databases of this process.
static FAILURES: FailureLog = FailureLog::new();

/// Whether a request that breaks off may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    None,
    /// It writes.
    Change,
}

/// Translates an error of the database into the store's terms and logs the detail, which
/// the guest does not get.
pub(crate) fn storage_error(error: tokio_postgres::Error, effect: Effect) -> StateError {
    let shown = shown(&error);
    let error = meaning(error, effect);
    if matches!(error, StateError::Busy) {
        tracing::debug!(error = shown, "the state database is busy");
        return error;
    }
    log(&shown);
    error
}

/// The same for a connection that cannot be had.
pub(crate) fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> StateError {
    log(&with_causes(&error));
    StateError::Unreachable { source: Box::new(error) }
}

fn log(shown: &str) {
    if let Some(untold) = FAILURES.record(shown, Instant::now()) {
        // How often the same failure happened since the last line about it.
        let untold = (untold > 0).then_some(untold);
        tracing::error!(error = shown, untold, "the state database failed");
    }
}

/// Whether the database says that it undid all of a request, which may be sent again.
pub(crate) fn is_undone(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE))
}

fn meaning(error: tokio_postgres::Error, effect: Effect) -> StateError {
    let lost = |source: Box<tokio_postgres::Error>| match effect {
        Effect::None => StateError::Unreachable { source },
        Effect::Change => StateError::Stopped,
    };
    let Some(code) = error.code().cloned() else { return lost(Box::new(error)) };
    let source = Box::new(error);
    match code {
        SqlState::QUERY_CANCELED
        | SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => StateError::Busy,
        SqlState::DISK_FULL => StateError::Full,
        SqlState::READ_ONLY_SQL_TRANSACTION => StateError::ReadOnly,
        SqlState::IO_ERROR => StateError::Disk { source },
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StateError::Damaged { source },
        SqlState::TOO_MANY_CONNECTIONS | SqlState::CANNOT_CONNECT_NOW => StateError::Unreachable { source },
        // The server ends while the request runs, perhaps after its commit.
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => lost(source),
        _ => StateError::Failed { source },
    }
}

/// The error with what the server says of it.
fn shown(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{}: {}", said.code().code(), said.message()),
        None => with_causes(error),
    }
}
