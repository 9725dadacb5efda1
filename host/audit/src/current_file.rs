//! The file that a host writes.
//!
//! The lock of a file says which host writes it. The next host continues a file
//! that is not full and not locked, so that many short-lived hosts leave
//! few files.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use chrono::{DateTime, Utc};
use wharf_files::{private_files, regular_file};

use crate::{
    chain::{self, Chain},
    files::{AuditFile, AuditFileOptions, EXTENSION, NAME_TIME, begun, group_of, list, name_of},
    line::{self, MAX_LINE_BYTES, Party},
    signing::AuditSigner,
};

/// How long hosts write one file, so that whole files can expire by age.
pub(crate) const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// The end of a file in which its last line is.
const TAIL_BYTES: u64 = 4 * MAX_LINE_BYTES as u64;

/// The file of a group before another one.
#[derive(Debug, Clone)]
pub(crate) struct PreviousFile {
    pub(crate) name: String,
    /// The last chain in it when the other one was begun.
    pub(crate) chain: Chain,
}

/// The file that a host writes.
#[derive(Debug)]
pub(crate) struct CurrentFile {
    name: String,
    file: File,
    chain: Chain,
    /// When its chain was signed, or else when the file was claimed.
    signed: Instant,
    /// Whether lines came since.
    is_unsigned: bool,
    /// The line that begins it, until it is written.
    begin: Option<Vec<u8>>,
    /// Lines with their chain, on their way.
    out: Vec<u8>,
    bytes: u64,
    begun: SystemTime,
    /// Bytes of each party, in a shared file.
    used: HashMap<Party, u64>,
}

/// Claims a file of this group for writing: one without a lock, or a new one. `now` is the time
/// with which its lines are stamped.
pub(crate) fn claim(
    directory: &Path,
    options: &AuditFileOptions,
    group: Option<&str>,
    now: SystemTime,
) -> io::Result<CurrentFile> {
    private_files::make_directory(directory)?;
    let all = list(directory)?;
    for listed in all.iter().rev() {
        let Some(begun) = begun(&listed.path).filter(|_| group_of(&listed.path) == group) else { continue };
        let young = now.duration_since(begun).is_ok_and(|age| age < SPAN);
        if young
            && listed.bytes < options.rotate_bytes
            && let Some(current) = go_on(&listed.path, begun)?
        {
            return Ok(current);
        }
    }
    let previous = newest(&all, group)?;
    loop {
        let time = DateTime::<Utc>::from(now).format(NAME_TIME);
        let group = group.map(|group| format!(".{group}")).unwrap_or_default();
        let name = format!("{time}-{:08x}{group}.{EXTENSION}", fastrand::u32(..));
        let path = directory.join(&name);
        let opened = private_files::options().read(true).append(true).create_new(true).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Another host may have claimed it first.
        if file.try_lock().is_ok() {
            return Ok(CurrentFile {
                file,
                chain: Chain::of_file(&name),
                begin: Some(line::begin(now, &name, previous.as_ref())),
                name,
                signed: Instant::now(),
                is_unsigned: false,
                out: Vec::new(),
                bytes: 0,
                begun: now,
                used: HashMap::new(),
            });
        }
    }
}

/// The newest file of a group, and where its chain stands; none where the group has no file, or one
/// without a chain.
fn newest(all: &[AuditFile], group: Option<&str>) -> io::Result<Option<PreviousFile>> {
    // Their names tell no more than the second in which they were begun.
    let of_group = all.iter().filter(|file| group_of(&file.path) == group);
    let Some(newest) = of_group.max_by_key(|file| file.modified) else { return Ok(None) };
    let Ok(mut file) = regular_file::open_itself(&newest.path) else { return Ok(None) };
    let name = name_of(&newest.path).to_owned();
    Ok(last_chain(&mut file)?.map(|chain| PreviousFile { name, chain }))
}

/// The chain after the last whole line of a file that has one.
fn last_chain(file: &mut File) -> io::Result<Option<Chain>> {
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let mut whole = tail.rsplit(|byte| *byte == b'\n').skip(1);
    Ok(whole.find_map(chain::parted).map(|(_, chain)| chain))
}

/// Claims a file without a lock. An unfinished line of its last host becomes a
/// line of its own, which readers skip. A file of a version that made no chain stays as it is.
fn go_on(path: &Path, begun: SystemTime) -> io::Result<Option<CurrentFile>> {
    let Ok(mut file) = regular_file::open_itself_to_append(path) else { return Ok(None) };
    if file.try_lock().is_err() {
        return Ok(None);
    }
    let metadata = file.metadata()?;
    // The file may have been removed before the lock, and a file that other users may
    // read is not ours.
    if !regular_file::has_name(&metadata) || private_files::is_private(&metadata) == Some(false) {
        return Ok(None);
    }
    let mut bytes = metadata.len();
    if bytes > 0 {
        let mut last = [0];
        file.seek(SeekFrom::Start(bytes - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            bytes += 1;
        }
    }
    let (chain, begin) = match last_chain(&mut file)? {
        Some(chain) => (chain, None),
        None if bytes > 0 => return Ok(None),
        // Its host ended before it wrote anything.
        None => {
            let name = name_of(path);
            (Chain::of_file(name), Some(line::begin(begun, name, None)))
        }
    };
    let used = if group_of(path).is_none() { used(&mut file)? } else { HashMap::new() };
    Ok(Some(CurrentFile {
        name: name_of(path).to_owned(),
        file,
        chain,
        signed: Instant::now(),
        // Its last host may have been killed.
        is_unsigned: bytes > 0,
        begin,
        out: Vec::new(),
        bytes,
        begun,
        used,
    }))
}

/// The bytes of each party in a file, which is at most as long as a full one.
fn used(file: &mut File) -> io::Result<HashMap<Party, u64>> {
    file.seek(SeekFrom::Start(0))?;
    let (mut used, mut line) = (HashMap::new(), Vec::new());
    let mut lines = BufReader::new(file);
    loop {
        line.clear();
        let read = lines.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(used);
        }
        *used.entry(Party::of_line(&line)).or_default() += read as u64;
    }
}

impl CurrentFile {
    /// Whether `more` bytes belong into another file.
    pub(crate) fn is_full(&self, more: u64, options: &AuditFileOptions, now: SystemTime) -> bool {
        let old = now.duration_since(self.begun).is_ok_and(|age| age >= SPAN);
        self.bytes > 0 && (old || self.bytes.saturating_add(more) > options.rotate_bytes)
    }

    /// Bytes of this party in a shared file.
    pub(crate) fn used_by(&self, party: &Party) -> u64 {
        self.used.get(party).copied().unwrap_or_default()
    }

    /// Counts a line that the host is about to write.
    pub(crate) fn count(&mut self, party: &Party, bytes: u64) {
        *self.used.entry(party.clone()).or_default() += bytes;
    }

    /// How long until it is to be signed, so long after the last time; none where no line waits for it.
    pub(crate) fn signs_in(&self, least: Duration) -> Option<Duration> {
        self.is_unsigned.then(|| least.saturating_sub(self.signed.elapsed()))
    }

    /// Signs where its chain stands, if lines came since it was signed, and that so long ago or longer. What
    /// was written for it.
    pub(crate) fn sign(&mut self, signer: &AuditSigner, least: Duration, now: SystemTime) -> io::Result<&[u8]> {
        if !self.is_unsigned || self.signed.elapsed() < least {
            return Ok(&[]);
        }
        // Where it fails, it is not tried at once again.
        self.signed = Instant::now();
        let signature = signer.sign(&self.name, self.chain);
        self.write(&line::head(now, &self.name, &signer.public().name(), &signature), now)?;
        self.is_unsigned = false;
        Ok(&self.out)
    }

    /// Writes whole lines, all of them or none, with their chain: what was written. `now` becomes the file's
    /// time: the system would give it that of the wall clock, which may be years behind, and would look old
    /// once the clock is right again.
    pub(crate) fn write(&mut self, lines: &[u8], now: SystemTime) -> io::Result<&[u8]> {
        let mut chain = self.chain;
        self.out.clear();
        let begin = self.begin.iter().map(Vec::as_slice);
        for line in begin.chain(lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())) {
            chain.write(line, &mut self.out);
        }
        match self.file.write_all(&self.out) {
            Ok(()) => {
                (self.chain, self.begin, self.is_unsigned) = (chain, None, true);
                self.bytes += self.out.len() as u64;
                // The lines are there, whatever their file's time is.
                let _ = self.file.set_modified(now);
                Ok(&self.out)
            }
            Err(error) => {
                // A full disk took a part of them.
                self.file.set_len(self.bytes)?;
                Err(error)
            }
        }
    }
}
