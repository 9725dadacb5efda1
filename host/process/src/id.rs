//! Which process.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use wharf_core::handle::{Handle, NoHandle};

use crate::ProcessError;

/// The handle of a process; never a process id of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessId(pub(crate) Handle);

impl FromStr for ProcessId {
    type Err = ProcessError;

    /// A text that cannot be an id is one that names nothing.
    fn from_str(raw: &str) -> Result<Self, ProcessError> {
        raw.parse().map(Self).map_err(|_: NoHandle| ProcessError::NotFound)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
