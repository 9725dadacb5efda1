//! A page as its owner sees it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
pub use wharf_contract::webview::{CloseReason, PageStatus};

use crate::{DialogKind, PageId};

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
