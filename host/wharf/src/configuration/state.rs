//! `[state]`: where plugins' state is kept, and what a write survives.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::secret;

/// Bytes of a file that says how a database is connected to.
const MAX_CONNECTION_BYTES: u64 = 16 << 10;
/// Most connections of one host to its database.
const MOST_CONNECTIONS: usize = 64;

/// `[state]`.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct StateSettings {
    /// What a write survives once it has returned; `process` where absent. On a database
    /// server its own `synchronous_commit` decides that.
    pub durability: Durability,
    /// A file that says how to connect to a PostgreSQL database, which then keeps the state
    /// instead of a file in the data directory, for all hosts that name it: a line as libpq's
    /// programs take it, such as `host=db.example.com dbname=wharf user=wharf password=…`.
    /// Refused where others may read it. A connection to another machine is encrypted.
    pub database_file: Option<PathBuf>,
    /// Take that file although others may read it.
    pub database_allow_unprotected: bool,
    /// Certificates of the authorities that may sign the database server's, as PEM; those that
    /// the system trusts where absent.
    pub database_authorities: Option<PathBuf>,
    /// Most connections of this host to the database, 1 to 64; 8 where absent.
    pub database_connections: Option<usize>,
}

/// What a write survives once it has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Durability {
    /// Every end of the process.
    #[default]
    Process,
    /// The end of power, too, at the cost of waiting for the disk.
    Power,
}

impl StateSettings {
    pub(super) fn check(self, base: &Path) -> Result<Self, String> {
        if self.database_file.is_none() {
            let without = [
                ("database_authorities", self.database_authorities.is_some()),
                ("database_connections", self.database_connections.is_some()),
                ("database_allow_unprotected", self.database_allow_unprotected),
            ];
            if let Some((setting, _)) = without.iter().find(|(_, is_written)| *is_written) {
                return Err(format!(
                    "state.{setting} is for a database; name the file of its connection: database_file"
                ));
            }
        } else if self.durability == Durability::Power {
            return Err("state.durability = \"power\" is for the file in the data directory; on a database server \
                        `synchronous_commit` decides, which is on unless somebody turned it off: take this line away"
                .to_owned());
        }
        if self.database_connections.is_some_and(|connections| !(1..=MOST_CONNECTIONS).contains(&connections)) {
            return Err(format!("state.database_connections is a number from 1 to {MOST_CONNECTIONS}"));
        }
        Ok(Self {
            database_file: self.database_file.map(|file| base.join(file)),
            database_authorities: self.database_authorities.map(|file| base.join(file)),
            ..self
        })
    }

    /// How to connect to the database, where one keeps the state.
    ///
    /// # Errors
    /// Why the file that says it cannot be read.
    pub fn connection(&self) -> Result<Option<String>, ConnectionUnreadable> {
        let Some(path) = &self.database_file else { return Ok(None) };
        self.read(path).map(Some).map_err(|error| ConnectionUnreadable { path: path.clone(), error })
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let mut text = String::new();
        secret::open(path, self.database_allow_unprotected)?
            .take(MAX_CONNECTION_BYTES + 1)
            .read_to_string(&mut text)?;
        let problem = |problem: &str| io::Error::new(io::ErrorKind::InvalidData, problem);
        match text.trim() {
            "" => Err(problem("it is empty")),
            line if text.len() as u64 > MAX_CONNECTION_BYTES || line.contains('\n') => {
                Err(problem("it must hold one line that says how to connect"))
            }
            line => Ok(line.to_owned()),
        }
    }
}

/// The file that says how to connect to the database of the state cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("state.database_file {}: {error}", path.display())]
pub struct ConnectionUnreadable {
    path: PathBuf,
    error: io::Error,
}
