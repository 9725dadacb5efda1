//! A terminal that was lost with an earlier host: what is known of it, and the
//! end of what it printed.
//!
//! Answers as a terminal does whose program has ended. Never knows terminals that
//! run.

use std::path::PathBuf;

use tokio::time::Instant;
use wharf_completion::detection::Preset;
use wharf_core::Share;

use super::journal::{self, RecoveredTerminal, TerminalRecord};
use crate::{
    CloseReason, Cursor, HistorySlice, KilledBy, ProgramExit, Restart, ScreenSnapshot, ScreenView, Status,
    TerminalInfo, TerminalSize,
};

/// A terminal that was lost.
#[derive(Debug)]
pub(crate) struct LostTerminal {
    pub(crate) record: TerminalRecord,
    text: String,
    /// When it was found.
    pub(super) since: Instant,
    /// Its files; they go with it.
    files: PathBuf,
    /// Its place among the ended ones.
    _tombstone: Share,
}

impl LostTerminal {
    pub(super) fn new(recovered: RecoveredTerminal, tombstone: Share) -> Self {
        let RecoveredTerminal { record, text, files } = recovered;
        Self { record, text, since: Instant::now(), files, _tombstone: tombstone }
    }

    /// Why it is over, in words.
    pub(crate) fn because(&self) -> String {
        let kept = self.text.len();
        format!("its host ended without closing it; the last {kept} bytes of its text are kept")
    }

    pub(crate) fn info(&self) -> TerminalInfo {
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
    pub(crate) fn text(&self, from: u64, maximum_bytes: usize) -> HistorySlice<String> {
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
    pub(crate) fn raw(&self) -> HistorySlice<Vec<u8>> {
        let end = self.record.raw_bytes;
        HistorySlice { content: Vec::new(), start: end, next: end, evicted_before: end }
    }

    /// The last lines of its text, where a person would have seen them.
    pub(crate) fn screen(&self, history_lines: usize) -> ScreenSnapshot {
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
    pub(super) fn remove_files(&self) {
        journal::remove(&self.files);
    }
}
