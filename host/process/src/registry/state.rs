//! Where a process stands, as it is kept in memory and on disk.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Exit, Status};

/// Where a process stands; changes twice at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessState {
    pub(super) status: Status,
    pub(super) exit: Option<Exit>,
    /// Why the host ended it, for people.
    #[serde(default)]
    pub(super) reason: Option<String>,
    pub(super) finished: Option<DateTime<Utc>>,
}

impl ProcessState {
    pub(super) const STARTING: Self = Self { status: Status::Starting, exit: None, reason: None, finished: None };
    pub(super) const RUNNING: Self = Self { status: Status::Running, exit: None, reason: None, finished: None };

    pub(super) fn ended(exit: Exit, reason: Option<String>, finished: DateTime<Utc>) -> Self {
        Self { status: exit.status(), exit: Some(exit), reason, finished: Some(finished) }
    }
}
