//! The thread's work: records to lines, lines to files.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use wharf_core::audit::AuditRecord;

use crate::{
    files::{self, Current, Settings},
    line,
};

/// Lines are handed to the system in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;
/// How often the operator is told that nothing can be written.
const COMPLAINT: Duration = Duration::from_secs(60);
/// How often files are looked for that are too old.
const PRUNING: Duration = Duration::from_secs(60 * 60);

/// Writes the lines of one host.
#[derive(Debug)]
pub(crate) struct Writer {
    directory: PathBuf,
    settings: Settings,
    current: Option<Current>,
    piece: Vec<u8>,
    /// Lines in `piece`.
    gathered: u64,
    complained: Option<Instant>,
    pruned: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(directory: PathBuf, settings: Settings) -> Self {
        Self { directory, settings, current: None, piece: Vec::new(), gathered: 0, complained: None, pruned: None }
    }

    /// Writes these; returns how many could not be.
    pub(crate) fn write(&mut self, records: impl Iterator<Item = AuditRecord>) -> u64 {
        let mut lost = 0;
        for record in records {
            line::write(&record, &mut self.piece);
            lost += self.ended();
        }
        lost + self.hand_over()
    }

    /// Writes that so many could not be kept; whether that could be.
    pub(crate) fn write_dropped(&mut self, count: u64) -> bool {
        self.piece.extend_from_slice(line::dropped(SystemTime::now(), count).as_bytes());
        self.ended() + self.hand_over() == 0
    }

    /// A line is in `piece`.
    fn ended(&mut self) -> u64 {
        self.piece.push(b'\n');
        self.gathered += 1;
        if self.piece.len() < PIECE_BYTES { 0 } else { self.hand_over() }
    }

    /// Hands what was gathered to the system; returns how many lines are lost.
    fn hand_over(&mut self) -> u64 {
        if self.piece.is_empty() {
            return 0;
        }
        let written = self.try_write();
        let lines = std::mem::take(&mut self.gathered);
        self.piece.clear();
        let Err(error) = written else { return 0 };
        // The next attempt begins with a file of its own.
        self.current = None;
        if self.complained.is_none_or(|when| when.elapsed() >= COMPLAINT) {
            self.complained = Some(Instant::now());
            tracing::error!(directory = %self.directory.display(), "audit lines cannot be written: {error}");
        }
        lines
    }

    fn try_write(&mut self) -> io::Result<()> {
        let more = self.piece.len() as u64;
        if self.current.as_ref().is_some_and(|current| current.is_full(more, &self.settings)) {
            self.current = None;
        }
        let fresh = self.current.is_none();
        let current = match &mut self.current {
            Some(current) => current,
            None => {
                let mut claimed = files::claim(&self.directory, &self.settings)?;
                // What another host left may have no room for this.
                if claimed.is_full(more, &self.settings) {
                    claimed = files::claim(&self.directory, &Settings { rotate_bytes: 0, ..self.settings.clone() })?;
                }
                self.current.insert(claimed)
            }
        };
        current.write(&self.piece)?;
        if fresh || self.pruned.is_none_or(|when| when.elapsed() >= PRUNING) {
            self.pruned = Some(Instant::now());
            if let Err(error) = files::prune(&self.directory, &self.settings, SystemTime::now()) {
                tracing::warn!(directory = %self.directory.display(), "old audit files cannot be removed: {error}");
            }
        }
        Ok(())
    }
}
