//! The pool of connections for reading, opened when needed and kept for the next read. It
//! knows nothing of what they read.

use std::fmt;

use parking_lot::Mutex;
use rusqlite::Connection;

use super::{
    fault::Fault,
    place::DatabaseFile,
    schema::{self, Access},
};
use crate::StateError;

/// The pool closes idle connections beyond this many; each holds up to 2 MiB of pages.
const KEPT: usize = 8;

pub(super) struct ReaderPool {
    file: DatabaseFile,
    access: Access,
    // Held to take or return a connection, never while a read runs.
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for ReaderPool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReaderPool")
            .field("path", &self.file.path)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl ReaderPool {
    pub(super) fn new(file: DatabaseFile, access: Access, first: Connection) -> Self {
        let readers = Self { file, access, idle: Mutex::default() };
        readers.keep(first);
        readers
    }

    /// Runs `work` with a connection of its own.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StateError> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => schema::reader(&self.file, self.access).map_err(Fault::from)?,
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
            // The pool closes a connection that failed.
            Err(failed @ Fault::Storage(_)) => Err(failed.into()),
        }
    }

    fn keep(&self, connection: Connection) {
        // A read-only store assumes of the file (see `schema::reader`) what holds for the
        // moment only.
        if self.access == Access::ReadOnly || !connection.is_autocommit() {
            return;
        }
        let mut idle = self.idle.lock();
        if idle.len() < KEPT {
            idle.push(connection);
        }
    }
}
