//! The handle of a terminal.
//!
//! Owns that it cannot be guessed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use wharf_core::handle::{Handle, NoHandle};

use crate::TerminalError;

/// The handle of a terminal; never a process id of the system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TerminalId(pub(crate) Handle);

impl FromStr for TerminalId {
    type Err = TerminalError;

    /// A text that cannot be an id is one that names nothing.
    fn from_str(raw: &str) -> Result<Self, TerminalError> {
        raw.parse().map(Self).map_err(|_: NoHandle| TerminalError::NotFound)
    }
}

impl fmt::Display for TerminalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for TerminalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
