//! The thread's work: records to lines, lines to files.
//!
//! Tenants share the files until one has filled its part of a file. From then on it
//! writes into files of its own, of which the oldest go first, so that nobody rotates
//! away the lines of others.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use wharf_core::{audit::AuditRecord, grant::GrantClock};

use crate::{
    files::{self, Current, Settings},
    line::{self, Party},
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
    /// By which files are old.
    clock: GrantClock,
    shared: Stream,
    /// Of parties that have filled their part of the shared file that is written now.
    own: HashMap<Party, Stream>,
    /// The line that is being written.
    line: Vec<u8>,
    lost: HashMap<Party, u64>,
    complained: Option<Instant>,
    pruned: Option<Instant>,
}

/// One file, and what is on its way there.
#[derive(Debug, Default)]
struct Stream {
    /// Whose alone it is.
    group: Option<String>,
    current: Option<Current>,
    piece: Vec<u8>,
    /// Lines in `piece`.
    gathered: HashMap<Party, u64>,
}

impl Writer {
    pub(crate) fn new(directory: PathBuf, settings: Settings, clock: GrantClock) -> Self {
        Self {
            directory,
            settings,
            clock,
            shared: Stream::default(),
            own: HashMap::new(),
            line: Vec::new(),
            lost: HashMap::new(),
            complained: None,
            pruned: None,
        }
    }

    /// Writes these; returns how many could not be, and whose.
    pub(crate) fn write(&mut self, records: impl Iterator<Item = AuditRecord>) -> HashMap<Party, u64> {
        for record in records {
            self.line.clear();
            line::write(&record, &mut self.line);
            self.add(Party::of(&record));
        }
        self.hand_over_all();
        std::mem::take(&mut self.lost)
    }

    /// Writes how many could not be kept; returns what could not be written of it.
    pub(crate) fn write_dropped(&mut self, dropped: HashMap<Party, u64>) -> HashMap<Party, u64> {
        for (party, count) in &dropped {
            self.line.clear();
            self.line.extend_from_slice(line::dropped(SystemTime::now(), party, *count).as_bytes());
            self.add(party.clone());
        }
        self.hand_over_all();
        let lost = std::mem::take(&mut self.lost);
        dropped.into_iter().filter(|(party, _)| lost.contains_key(party)).collect()
    }

    /// Puts `line` where it belongs.
    fn add(&mut self, party: Party) {
        self.line.push(b'\n');
        let bytes = self.line.len() as u64;
        if !self.own.contains_key(&party) {
            self.make_ready(bytes);
            let part = self.settings.rotate_bytes / files::PARTS;
            match &mut self.shared.current {
                Some(shared) if party != Party::Operator && shared.used_by(&party) + bytes > part => {
                    let stream = Stream { group: Some(files::group(&party)), ..Stream::default() };
                    self.own.insert(party.clone(), stream);
                }
                Some(shared) => shared.count(&party, bytes),
                None => {}
            }
        }
        let stream = self.own.get_mut(&party).unwrap_or(&mut self.shared);
        stream.piece.extend_from_slice(&self.line);
        *stream.gathered.entry(party.clone()).or_default() += 1;
        if stream.piece.len() >= PIECE_BYTES {
            match self.own.contains_key(&party) {
                true => self.hand_over(Some(&party)),
                false => self.hand_over(None),
            }
        }
    }

    /// Has a shared file with room for so many bytes, where there can be one.
    fn make_ready(&mut self, bytes: u64) {
        let more = bytes + self.shared.piece.len() as u64;
        if self.shared.current.as_ref().is_some_and(|current| current.is_full(more, &self.settings)) {
            // In the next file, everybody has a part again.
            self.hand_over_all();
            self.own.clear();
            self.shared.current = None;
        }
        if self.shared.current.is_none()
            && let Err(error) = self.open(None, more)
        {
            self.complain(&error);
        }
    }

    fn hand_over_all(&mut self) {
        self.hand_over(None);
        let own: Vec<_> = self.own.keys().cloned().collect();
        for party in &own {
            self.hand_over(Some(party));
        }
    }

    /// Hands what was gathered to the system, and counts what is lost.
    fn hand_over(&mut self, party: Option<&Party>) {
        let Some(stream) = self.stream(party).filter(|stream| !stream.piece.is_empty()) else { return };
        let (mut piece, gathered) = (std::mem::take(&mut stream.piece), std::mem::take(&mut stream.gathered));
        let written = self.try_write(party, &piece);
        piece.clear();
        if let Some(stream) = self.stream(party) {
            // Its memory is used again.
            stream.piece = piece;
        }
        let Err(error) = written else { return };
        // The next attempt begins with a file of its own.
        if let Some(stream) = self.stream(party) {
            stream.current = None;
        }
        for (party, count) in gathered {
            *self.lost.entry(party).or_default() += count;
        }
        self.complain(&error);
    }

    fn complain(&mut self, error: &io::Error) {
        if self.complained.is_none_or(|when| when.elapsed() >= COMPLAINT) {
            self.complained = Some(Instant::now());
            tracing::error!(directory = %self.directory.display(), "audit lines cannot be written: {error}");
        }
    }

    fn stream(&mut self, party: Option<&Party>) -> Option<&mut Stream> {
        match party {
            Some(party) => self.own.get_mut(party),
            None => Some(&mut self.shared),
        }
    }

    fn try_write(&mut self, party: Option<&Party>, piece: &[u8]) -> io::Result<()> {
        let more = piece.len() as u64;
        let settings = self.settings.clone();
        let Some(stream) = self.stream(party) else { return Ok(()) };
        let is_own = stream.group.is_some();
        if is_own && stream.current.as_ref().is_some_and(|current| current.is_full(more, &settings)) {
            stream.current = None;
        }
        if stream.current.is_none() {
            self.open(party, more)?;
        }
        if let Some(current) = self.stream(party).and_then(|stream| stream.current.as_mut()) {
            current.write(piece)?;
        }
        if self.pruned.is_none_or(|when| when.elapsed() >= PRUNING) {
            self.prune();
        }
        Ok(())
    }

    /// Opens a file with room for so many bytes.
    fn open(&mut self, party: Option<&Party>, more: u64) -> io::Result<()> {
        let (directory, settings) = (self.directory.clone(), self.settings.clone());
        let Some(stream) = self.stream(party) else { return Ok(()) };
        let group = stream.group.as_deref();
        let mut claimed = files::claim(&directory, &settings, group)?;
        // What another host left may have no room for this.
        if claimed.is_full(more, &settings) {
            claimed = files::claim(&directory, &Settings { rotate_bytes: 0, ..settings }, group)?;
        }
        stream.current = Some(claimed);
        self.prune();
        Ok(())
    }

    fn prune(&mut self) {
        self.pruned = Some(Instant::now());
        if let Err(error) = files::prune(&self.directory, &self.settings, self.clock.now()) {
            tracing::warn!(directory = %self.directory.display(), "old audit files cannot be removed: {error}");
        }
    }
}
