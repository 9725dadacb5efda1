//! What a read finds, and how a stream ended.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::StreamEvent;

/// What one read found.
#[derive(Debug, Clone)]
pub struct Batch {
    /// In order, without a gap among them.
    pub events: Vec<Arc<StreamEvent>>,
    /// The number to read from next.
    pub next: u64,
    /// What was asked for and is not kept any more.
    pub lost: Option<Lost>,
    /// Why nothing will come behind `next`.
    pub ended: Option<Ended>,
    /// The same in words, where its source said it.
    pub because: Option<String>,
}

/// Events that were evicted before they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lost {
    /// The number of the first that is lost.
    pub from: u64,
    /// The number of the first that is not.
    pub resumed_at: u64,
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Its only turn was complete.
    Completed,
    /// Its source closed it.
    Closed,
    /// A reader deleted it.
    Deleted,
    /// Nobody used it for too long.
    Expired,
}

impl Ended {
    /// The word that clients see.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Closed => "closed",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
        }
    }
}
