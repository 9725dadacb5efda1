//! Terminals that were lost with their host: what is known of them, and the end
//! of what they printed.
//!
//! Each host has a directory of its own below the common one, locked while it
//! lives, as processes have; the next host takes over those that are not. Knows
//! nothing of terminals that run.

mod disk;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use wharf_completion::detection::Preset;
use wharf_core::{Share, TerminalOwner};

use super::{
    CloseReason, Restart, ScreenSnapshot, Status, TerminalId, TerminalInfo, Terminals, entry::PooledTerminal, lock,
};
use crate::{Cursor, HistorySlice, KilledBy, ProgramExit, ScreenView, TerminalSize};

pub(super) use disk::{RecoveredTerminal, TerminalJournal};

/// What is kept of a terminal's text, in bytes.
pub(super) const KEPT_TEXT_BYTES: usize = 64 << 10;

/// A terminal as a record holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TerminalRecord {
    pub(super) id: TerminalId,
    pub(super) owner: TerminalOwner,
    command: String,
    profile: String,
    preset: String,
    columns: u16,
    rows: u16,
    directory: PathBuf,
    started: DateTime<Utc>,
    last_used: DateTime<Utc>,
    /// When this was written, which is when it was last known to live.
    saved: DateTime<Utc>,
    restarts: u32,
    restarted_because: Option<String>,
    recording: Option<PathBuf>,
    alternate_screen: bool,
    raw_bytes: u64,
    /// Where the text that is kept begins.
    text_start: u64,
}

/// Opens the place of records below a directory, and says what earlier hosts
/// left there. Without it terminals work all the same.
pub(super) fn open(root: &Path) -> Option<(TerminalJournal, Vec<RecoveredTerminal>)> {
    let opened = TerminalJournal::open(root);
    opened.inspect_err(|error| tracing::warn!(%error, "terminals are not recorded in {}", root.display())).ok()
}

impl Terminals {
    /// Takes over what earlier hosts left: the last that lived first, as many as
    /// may be kept.
    pub(super) fn take_over(&self, mut found: Vec<RecoveredTerminal>) {
        found.sort_by_key(|found| std::cmp::Reverse(found.record.saved));
        let mut table = lock(&self.table);
        for RecoveredTerminal { record, text, files } in found {
            let (owner, id) = (record.owner.clone(), record.id);
            let of_owner = table.lost.values().filter(|lost| lost.record.owner == owner).count() as u64;
            let place = self.common.tombstones.take(&owner.tenant, &owner.session, 1);
            match place {
                Ok(place) if of_owner < self.common.settings.limits.ended_per_owner => {
                    tracing::warn!(
                        session = %owner.session, plugin = %owner.plugin, terminal = %id, command = record.command,
                        "a terminal was lost when its host ended; the end of its text is kept"
                    );
                    table.lost.insert(id, LostTerminal::new(record, text, files, place));
                    self.common.counters.lost();
                }
                _ => disk::remove(&files),
            }
        }
    }
}

impl TerminalRecord {
    /// What is written of a terminal that lives, and the end of its text.
    pub(super) fn of(terminal: &PooledTerminal) -> (Self, String) {
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

/// A terminal that was lost.
#[derive(Debug)]
pub(super) struct LostTerminal {
    pub(super) record: TerminalRecord,
    text: String,
    /// When it was found.
    pub(super) since: Instant,
    /// Its files; they go with it.
    files: PathBuf,
    _kept: Share,
}

impl LostTerminal {
    pub(super) fn new(record: TerminalRecord, text: String, files: PathBuf, kept: Share) -> Arc<Self> {
        Arc::new(Self { record, text, since: Instant::now(), files, _kept: kept })
    }

    /// Why it is over, in words.
    pub(super) fn because(&self) -> String {
        let kept = self.text.len();
        format!("its host ended without closing it; the last {kept} bytes of its text are kept")
    }

    pub(super) fn info(&self) -> TerminalInfo {
        let record = &self.record;
        TerminalInfo {
            id: record.id,
            command: record.command.clone(),
            profile: record.profile.clone(),
            preset: record.preset.parse().unwrap_or(Preset::Shell),
            status: Status::Closed,
            size: self.size(),
            pid: None,
            directory: record.directory.clone(),
            started: record.started,
            last_used: record.last_used,
            ended: Some(record.saved),
            exit: Some(ProgramExit::Killed { by: KilledBy::HostLost }),
            why: Some(CloseReason::HostLost),
            because: Some(self.because()),
            restart: Restart::Never,
            restarts: record.restarts,
            restarted_because: record.restarted_because.clone(),
            turn: None,
            text_bytes: self.text_end(),
            text_evicted_before: record.text_start,
            raw_bytes: record.raw_bytes,
            raw_evicted_before: record.raw_bytes,
            alternate_screen: record.alternate_screen,
            recording: record.recording.clone(),
            stream: None,
            viewers: 0,
        }
    }

    fn size(&self) -> TerminalSize {
        TerminalSize::new(self.record.columns, self.record.rows).unwrap_or_default()
    }

    fn text_end(&self) -> u64 {
        self.record.text_start + self.text.len() as u64
    }

    /// The text from a cursor on, as of a terminal that lives.
    pub(super) fn text(&self, from: u64, maximum_bytes: usize) -> HistorySlice<String> {
        let evicted_before = self.record.text_start;
        let from = from.clamp(evicted_before, self.text_end());
        let first = usize::try_from(from - evicted_before).unwrap_or(usize::MAX);
        let first = self.text.ceil_char_boundary(first.min(self.text.len()));
        let last = self.text.floor_char_boundary(first.saturating_add(maximum_bytes).min(self.text.len()));
        let content = self.text[first..last.max(first)].to_owned();
        let start = evicted_before + first as u64;
        HistorySlice { next: start + content.len() as u64, content, start, evicted_before }
    }

    /// No bytes are kept.
    pub(super) fn raw(&self) -> HistorySlice<Vec<u8>> {
        let end = self.record.raw_bytes;
        HistorySlice { content: Vec::new(), start: end, next: end, evicted_before: end }
    }

    /// The last lines of its text, where a person would have seen them.
    pub(super) fn shown(&self, history_lines: usize) -> ScreenSnapshot {
        let size = self.size();
        let rows = usize::from(size.rows());
        let all: Vec<&str> = self.text.split('\n').collect();
        let (above, lines) = all.split_at(all.len().saturating_sub(rows));
        let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
        let row = lines.len().saturating_sub(1);
        let last = lines.last().map_or(0, |line| line.chars().count());
        let column = u16::try_from(last).unwrap_or(u16::MAX).min(size.columns().saturating_sub(1));
        lines.resize(rows, String::new());
        let cursor = Cursor { column, row: u16::try_from(row).unwrap_or(u16::MAX), visible: false };
        let history =
            above[above.len().saturating_sub(history_lines)..].iter().map(|line| (*line).to_owned()).collect();
        ScreenSnapshot { view: ScreenView { size, lines, cursor, alternate: false, rebuilt: 0 }, history }
    }

    /// Removes its files.
    pub(super) fn remove(&self) {
        disk::remove(&self.files);
    }
}
