//! Which stream.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_core::handle::{Handle, NoHandle};

use super::StreamError;

/// The handle of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StreamId(pub(super) Handle);

impl FromStr for StreamId {
    type Err = StreamError;

    /// A text that cannot be an id is one that names nothing.
    fn from_str(raw: &str) -> Result<Self, StreamError> {
        raw.parse().map(Self).map_err(|_: NoHandle| StreamError::NotFound)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
