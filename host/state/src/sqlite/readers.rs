//! Connections for reading, made when needed and kept for the next read. It
//! knows nothing of what is read.

use std::{
    fmt,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{Fault, schema, schema::Access, storage_error};
use crate::StateError;

/// Idle connections beyond this many are closed; each holds up to 2 MiB of
/// pages.
const KEPT: usize = 8;

pub(super) struct Readers {
    path: PathBuf,
    access: Access,
    // Held to take or return a connection, never while one is used.
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Readers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Readers")
            .field("path", &self.path)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl Readers {
    pub(super) fn new(path: PathBuf, access: Access, first: Connection) -> Self {
        let readers = Self { path, access, idle: Mutex::default() };
        readers.keep(first);
        readers
    }

    /// Runs `work` with a connection of its own.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StateError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => schema::reader(&self.path, self.access).map_err(storage_error)?,
        };
        match work(&connection) {
            Ok(value) => {
                self.keep(connection);
                Ok(value)
            }
            Err(Fault::Refused(error)) => {
                self.keep(connection);
                Err(error)
            }
            // A connection that failed is closed: the next read begins afresh.
            Err(Fault::Storage(error)) => Err(storage_error(error)),
        }
    }

    fn keep(&self, connection: Connection) {
        // What a read-only store may assume of the file (see `schema::reader`)
        // holds for the moment only.
        if self.access == Access::ReadOnly || !connection.is_autocommit() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
    }
}
