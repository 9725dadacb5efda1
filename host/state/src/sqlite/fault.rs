//! How an operation on the database fails, and what the log and the caller learn of it.
//! It knows no SQL.

use std::time::Instant;

use crate::{FailureLog, InventoryError, StateError};

/// Why an operation on the database ended: our rules refused it, which leaves the
/// transaction intact, or the database failed, which does not.
#[derive(Debug)]
pub(super) enum Fault {
    Refused(StateError),
    Storage(rusqlite::Error),
}

impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error)
    }
}

impl From<Fault> for StateError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => error,
            Fault::Storage(error) => storage_error(error),
        }
    }
}

impl From<Fault> for InventoryError {
    fn from(fault: Fault) -> Self {
        Self::State(fault.into())
    }
}

/// The failures of all databases of this process.
static FAILURES: FailureLog = FailureLog::new();

/// Translates an error of the database into the store's terms and logs the detail, which
/// the guest does not get.
pub(super) fn storage_error(error: rusqlite::Error) -> StateError {
    let shown = error.to_string();
    let error = StateError::of_database(error);
    if matches!(error, StateError::Busy) {
        tracing::debug!(error = shown, "the state database is busy");
        return error;
    }
    let Some(untold) = FAILURES.record(&shown, Instant::now()) else { return error };
    // How often the same failure happened since the last line about it.
    let untold = (untold > 0).then_some(untold);
    match &error {
        StateError::Disk { .. } | StateError::Damaged { .. } | StateError::Failed { .. } => {
            tracing::error!(error = shown, untold, "the state database failed");
        }
        _ => tracing::warn!(error = shown, untold, "the state database cannot write"),
    }
    error
}
