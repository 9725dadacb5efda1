//! What is written down of a terminal that lives, for the next host.
//!
//! Never knows where it is written.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use wharf_core::TerminalOwner;

use crate::{HistorySlice, TerminalId, pool::pooled_terminal::PooledTerminal};

/// What is kept of a terminal's text, in bytes.
pub(crate) const KEPT_TEXT_BYTES: usize = 64 << 10;

/// A terminal as a record holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TerminalRecord {
    pub(crate) id: TerminalId,
    pub(crate) owner: TerminalOwner,
    pub(crate) command: String,
    pub(crate) profile: String,
    pub(crate) preset: String,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) directory: PathBuf,
    pub(crate) started: DateTime<Utc>,
    pub(crate) last_used: DateTime<Utc>,
    /// When this was written, which is when it was last known to live.
    pub(crate) saved: DateTime<Utc>,
    pub(crate) restarts: u32,
    pub(crate) restarted_because: Option<String>,
    pub(crate) recording: Option<PathBuf>,
    pub(crate) alternate_screen: bool,
    pub(crate) raw_bytes: u64,
    /// Where the text that is kept begins.
    pub(crate) text_start: u64,
}

impl TerminalRecord {
    /// What is written of a terminal that lives, and the end of its text.
    pub(crate) fn of(terminal: &PooledTerminal) -> (Self, String) {
        let info = terminal.info();
        let from = info.text_bytes.saturating_sub(KEPT_TEXT_BYTES as u64);
        let HistorySlice { content, start, .. } = terminal.session.text(from, KEPT_TEXT_BYTES);
        let record = Self {
            id: info.id,
            owner: terminal.owner.clone(),
            command: info.command,
            profile: info.profile,
            preset: info.preset.as_str().to_owned(),
            columns: info.size.columns(),
            rows: info.size.rows(),
            directory: info.directory,
            started: info.started,
            last_used: info.last_used,
            saved: Utc::now(),
            restarts: info.restarts,
            restarted_because: info.restarted_because,
            recording: info.recording,
            alternate_screen: info.alternate_screen,
            raw_bytes: info.raw_bytes,
            text_start: start,
        };
        (record, content)
    }
}
