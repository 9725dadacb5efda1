//! A page as its owner sees it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::{DialogKind, PageId};

/// The status of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStatus {
    /// It is being opened.
    Opening,
    /// It takes scripts.
    Ready,
    /// It navigates.
    Loading,
    /// It crashed, and has not been navigated since.
    Crashed,
    /// It is closed.
    Closed,
}

impl PageStatus {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Ready => "ready",
            Self::Loading => "loading",
            Self::Crashed => "crashed",
            Self::Closed => "closed",
        }
    }
}

/// Why a page is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// Its owner asked.
    Owner,
    /// Nobody used it.
    Idle,
    /// It made room for another one.
    Evicted,
    /// The operator asked.
    Operator,
    /// The host ends.
    ShuttingDown,
    /// The browser ended, or could not be had.
    BackendGone,
}

impl CloseReason {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Idle => "idle",
            Self::Evicted => "evicted",
            Self::Operator => "operator",
            Self::ShuttingDown => "shutting-down",
            Self::BackendGone => "backend-gone",
        }
    }
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// What it is.
    pub kind: DialogKind,
    /// What it says, at most 4 KiB.
    pub message: String,
    /// What the field of a `prompt` holds, at most 4 KiB.
    pub default_text: String,
    /// How long it has been open.
    pub open: Duration,
}

impl DialogKind {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}

/// A page as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct PageInfo {
    /// Its handle.
    pub id: PageId,
    /// Its status.
    pub status: PageStatus,
    /// Its address, at most 4 KiB.
    pub url: String,
    /// Its title, at most 1 KiB.
    pub title: String,
    /// Width of the viewport, in CSS pixels.
    pub width: u32,
    /// Height of the viewport, in CSS pixels.
    pub height: u32,
    /// The dialog that waits for an answer.
    pub dialog: Option<Dialog>,
    /// Requests that are pending.
    pub pending: usize,
    /// When it was opened.
    pub opened: DateTime<Utc>,
    /// When somebody last used it.
    pub last_used: DateTime<Utc>,
    /// Why it is closed.
    pub closed_because: Option<CloseReason>,
    /// Further fields of the contract.
    pub meta: Map<String, Value>,
}
