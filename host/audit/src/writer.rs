//! Writes records as lines to files, on the thread of the sink.
//!
//! Tenants share the files until one has filled its part of a file. From then on its lines
//! go to files of its own, of which the oldest go first, so that no tenant rotates
//! away the lines of others.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use wharf_core::{audit::AuditRecord, grant::GrantClock};

use crate::{
    chain::CHAIN_BYTES,
    current_file::{CurrentFile, claim},
    files::{self, AuditFileOptions},
    line::{self, Party},
    signing::AuditSigner,
    syslog::Syslog,
};

/// The writer hands lines to the system in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;
/// Pause between two log messages about failed writes.
const COMPLAINT: Duration = Duration::from_secs(60);
/// Pause between two searches for old files.
const PRUNING: Duration = Duration::from_secs(60 * 60);
/// Lines are signed so long after those that were signed before them, or at the end of their file or host.
/// Those that verify count on it.
pub(crate) const SIGNING: Duration = Duration::from_secs(60);

/// The two times of a host. Neither is wrong for long where somebody sets the clock: what is
/// stamped with the one is never too old for the other.
#[derive(Debug, Clone)]
pub struct AuditClock {
    /// Stamps the files that are written. It is never behind `passed`.
    pub stamp: GrantClock,
    /// Judges the age of files.
    pub passed: GrantClock,
}

/// Writes the lines of one host.
#[derive(Debug)]
pub(crate) struct AuditWriter {
    directory: PathBuf,
    options: AuditFileOptions,
    clock: AuditClock,
    signer: Option<AuditSigner>,
    /// [`SIGNING`], but in a test.
    pub(crate) signing: Duration,
    /// Where copies of all lines go.
    copies: Option<Arc<Syslog>>,
    shared: LineStream,
    /// The streams of parties that have filled their part of the current shared file.
    own: HashMap<Party, LineStream>,
    /// The current line.
    line: Vec<u8>,
    lost: HashMap<Party, u64>,
    complained: Option<Instant>,
    pruned: Option<Instant>,
    /// Files that were removed, until lines say so.
    removed: Vec<String>,
}

/// One file, and the lines on their way to it.
#[derive(Debug, Default)]
struct LineStream {
    /// The group of its party; none for the shared file.
    group: Option<String>,
    current: Option<CurrentFile>,
    piece: Vec<u8>,
    /// Bytes of `piece` with the chains of its lines.
    bytes: u64,
    /// Lines in `piece`.
    gathered: HashMap<Party, u64>,
}

impl AuditWriter {
    pub(crate) fn new(
        directory: PathBuf,
        options: AuditFileOptions,
        clock: AuditClock,
        signer: Option<AuditSigner>,
        copies: Option<Arc<Syslog>>,
    ) -> Self {
        Self {
            directory,
            options,
            clock,
            signer,
            signing: SIGNING,
            copies,
            shared: LineStream::default(),
            own: HashMap::new(),
            line: Vec::new(),
            lost: HashMap::new(),
            complained: None,
            pruned: None,
            removed: Vec::new(),
        }
    }

    /// Writes records; returns the number of lost ones of each party.
    pub(crate) fn write(&mut self, records: impl Iterator<Item = AuditRecord>) -> HashMap<Party, u64> {
        for record in records {
            self.line.clear();
            line::write(&record, self.options.addresses, &mut self.line);
            self.add(Party::of(&record));
        }
        for name in std::mem::take(&mut self.removed) {
            self.tell_removed(&name);
        }
        self.hand_over_all();
        std::mem::take(&mut self.lost)
    }

    /// Writes the counts of dropped records; returns the counts that could not be written.
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

    /// Says that a file made room: among the lines of its own party, so that no party's files take room
    /// from those of others.
    fn tell_removed(&mut self, name: &str) {
        let party = match files::group_of(Path::new(name)) {
            None => Some(Party::Operator),
            Some(group) => {
                let mut own = self.own.iter();
                own.find(|(_, stream)| stream.group.as_deref() == Some(group)).map(|(party, _)| party.clone())
            }
        };
        if let Some(party) = party {
            self.line = line::removed(SystemTime::now(), name);
            self.add(party);
        }
    }

    /// Adds `line` to the stream of its party.
    fn add(&mut self, party: Party) {
        self.line.push(b'\n');
        let bytes = (self.line.len() + CHAIN_BYTES) as u64;
        if !self.own.contains_key(&party) {
            self.make_ready(bytes);
            let part = self.options.rotate_bytes / files::PARTS;
            match &mut self.shared.current {
                Some(shared) if party != Party::Operator && shared.used_by(&party) + bytes > part => {
                    let stream = LineStream { group: Some(files::group(&party)), ..LineStream::default() };
                    self.own.insert(party.clone(), stream);
                }
                Some(shared) => shared.count(&party, bytes),
                None => {}
            }
        }
        let stream = self.own.get_mut(&party).unwrap_or(&mut self.shared);
        stream.piece.extend_from_slice(&self.line);
        stream.bytes += bytes;
        *stream.gathered.entry(party.clone()).or_default() += 1;
        if stream.piece.len() >= PIECE_BYTES {
            match self.own.contains_key(&party) {
                true => self.hand_over(Some(&party)),
                false => self.hand_over(None),
            }
        }
    }

    /// Opens a shared file with room for so many bytes, where one can be opened.
    fn make_ready(&mut self, bytes: u64) {
        let more = bytes + self.shared.bytes + self.head_bytes();
        if self
            .shared
            .current
            .as_ref()
            .is_some_and(|current| current.is_full(more, &self.options, self.clock.stamp.now()))
        {
            // In the next file every party has a part again.
            self.hand_over_all();
            self.sign_all(Duration::ZERO);
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
        self.sign_all(self.signing);
    }

    /// The room that a file keeps for the line that signs its end.
    fn head_bytes(&self) -> u64 {
        if self.signer.is_some() { line::HEAD_BYTES } else { 0 }
    }

    /// Signs where the chains of the current files stand.
    pub(crate) fn sign_now(&mut self) {
        self.sign_all(Duration::ZERO);
    }

    /// How long until lines that were written are to be signed; none where all are.
    pub(crate) fn signs_in(&self) -> Option<Duration> {
        self.signer.as_ref()?;
        let own = self.own.values().filter_map(|stream| stream.current.as_ref());
        own.chain(self.shared.current.as_ref()).filter_map(|file| file.signs_in(self.signing)).min()
    }

    /// Signs where the chains of the current files stand, of those whose time has come.
    pub(crate) fn sign_due(&mut self) {
        self.sign_all(self.signing);
    }

    /// Signs where the chains of the current files stand, of those that were signed so long ago or longer.
    fn sign_all(&mut self, least: Duration) {
        let Some(signer) = &self.signer else { return };
        let (now, copies) = (self.clock.stamp.now(), self.copies.as_deref());
        let own = self.own.values_mut().filter_map(|stream| stream.current.as_mut());
        let mut failed = None;
        for file in own.chain(self.shared.current.as_mut()) {
            match file.sign(signer, least, now) {
                Ok(written) => copied(copies, written),
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            self.complain(&error);
        }
    }

    /// Signs a file that is full. Where that fails, its lines are there all the same.
    fn close(&mut self, mut full: CurrentFile) {
        let Some(signer) = &self.signer else { return };
        match full.sign(signer, Duration::ZERO, self.clock.stamp.now()) {
            Ok(written) => copied(self.copies.as_deref(), written),
            Err(error) => self.complain(&error),
        }
    }

    /// Hands the gathered lines to the system, and counts the lost ones.
    fn hand_over(&mut self, party: Option<&Party>) {
        let Some(stream) = self.stream(party).filter(|stream| !stream.piece.is_empty()) else { return };
        let (mut piece, gathered) = (std::mem::take(&mut stream.piece), std::mem::take(&mut stream.gathered));
        let bytes = std::mem::take(&mut stream.bytes);
        let written = self.try_write(party, &piece, bytes);
        piece.clear();
        if let Some(stream) = self.stream(party) {
            // The stream reuses its memory.
            stream.piece = piece;
        }
        let Err(error) = written else { return };
        // The next attempt opens another file.
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

    fn stream(&mut self, party: Option<&Party>) -> Option<&mut LineStream> {
        match party {
            Some(party) => self.own.get_mut(party),
            None => Some(&mut self.shared),
        }
    }

    /// Writes lines that take so many bytes with their chains.
    fn try_write(&mut self, party: Option<&Party>, piece: &[u8], bytes: u64) -> io::Result<()> {
        let more = bytes + self.head_bytes();
        let (options, now, copies) = (self.options.clone(), self.clock.stamp.now(), self.copies.clone());
        let Some(stream) = self.stream(party) else { return Ok(()) };
        let is_own = stream.group.is_some();
        if is_own && let Some(full) = stream.current.take_if(|current| current.is_full(more, &options, now)) {
            self.close(full);
        }
        if self.stream(party).is_some_and(|stream| stream.current.is_none()) {
            self.open(party, more)?;
        }
        if let Some(current) = self.stream(party).and_then(|stream| stream.current.as_mut()) {
            copied(copies.as_deref(), current.write(piece, now)?);
        }
        if self.pruned.is_none_or(|when| when.elapsed() >= PRUNING) {
            self.prune();
        }
        Ok(())
    }

    /// Opens a file with room for so many bytes.
    fn open(&mut self, party: Option<&Party>, more: u64) -> io::Result<()> {
        let (directory, options, now) = (self.directory.clone(), self.options.clone(), self.clock.stamp.now());
        let Some(stream) = self.stream(party) else { return Ok(()) };
        let group = stream.group.as_deref();
        let mut claimed = claim(&directory, &options, group, now)?;
        // The file of another host may have no room for this.
        if claimed.is_full(more, &options, now) {
            claimed = claim(&directory, &AuditFileOptions { rotate_bytes: 0, ..options }, group, now)?;
        }
        stream.current = Some(claimed);
        self.prune();
        Ok(())
    }

    fn prune(&mut self) {
        self.pruned = Some(Instant::now());
        let removed = &mut self.removed;
        let gone = |name: &str| removed.push(name.to_owned());
        if let Err(error) = files::prune(&self.directory, &self.options, self.clock.passed.now(), gone) {
            tracing::warn!(directory = %self.directory.display(), "old audit files cannot be removed: {error}");
        }
    }
}

/// Has lines that were written go elsewhere, too.
fn copied(copies: Option<&Syslog>, written: &[u8]) {
    if let Some(copies) = copies.filter(|_| !written.is_empty()) {
        copies.copy(written);
    }
}

impl Drop for AuditWriter {
    fn drop(&mut self) {
        self.sign_now();
    }
}
