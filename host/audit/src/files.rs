//! The files: which one a host writes, and which are kept.
//!
//! A file belongs to whoever holds its lock. The next host goes on with one
//! that is not full and that nobody holds, so that many short-lived hosts leave
//! few files. A file whose name has a group is of one party alone; the others are shared.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chrono::{DateTime, NaiveDateTime, Utc};
use wharf_core::Digest;

use crate::line::{MAX_LINE_BYTES, Party};

/// What the name of a file ends with.
const EXTENSION: &str = "jsonl";
/// How a name begins: when the file was.
const NAME_TIME: &str = "%Y%m%dT%H%M%S";
/// How long one file is written, so that age can be kept by whole files.
const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// A party may fill one of so many parts of a shared file.
pub(crate) const PARTS: u64 = 8;
/// Digits of a digest that name a group.
const GROUP_DIGITS: usize = 16;

/// How files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// A file of this size is full.
    pub rotate_bytes: u64,
    /// How many files are kept, those that are being written not counted as
    /// too many. Files of one tenant alone are kept up to as many bytes as so many
    /// files may have, less what the shared ones have, and those of the tenant that
    /// has most go first.
    pub keep_files: usize,
    /// How long after its last line a file is kept.
    pub keep: Duration,
}

/// The file that a host writes.
#[derive(Debug)]
pub(crate) struct Current {
    file: File,
    bytes: u64,
    begun: SystemTime,
    /// Bytes of a shared one, and whose they are.
    used: HashMap<Party, u64>,
}

/// A file that is there.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) modified: SystemTime,
    pub(crate) bytes: u64,
}

/// The files of a directory, oldest first; none where there is no directory.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<Listed>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        // Links are followed by nothing here.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
            listed.push(Listed { path, modified: metadata.modified()?, bytes: metadata.len() });
        }
    }
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(listed)
}

/// The group of a party's own files.
pub(crate) fn group(party: &Party) -> String {
    let named = match party {
        Party::Tenant(tenant) => format!("tenant {tenant}"),
        Party::Strangers => "strangers".to_owned(),
        Party::Operator => "operator".to_owned(),
    };
    let digest = Digest::of(named.as_bytes()).to_string();
    digest.rsplit(':').next().unwrap_or_default().chars().take(GROUP_DIGITS).collect()
}

/// The group that a file belongs to; none where it is shared.
fn group_of(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.split_once('.').map(|(_, group)| group)
}

/// When the file was begun, by its name.
fn begun(path: &Path) -> Option<SystemTime> {
    let (time, _) = path.file_stem()?.to_str()?.split_once('-')?;
    Some(NaiveDateTime::parse_from_str(time, NAME_TIME).ok()?.and_utc().into())
}

/// A file of this group to write: one that nobody holds, or a new one.
pub(crate) fn claim(directory: &Path, settings: &Settings, group: Option<&str>) -> io::Result<Current> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    let now = SystemTime::now();
    for listed in list(directory)?.into_iter().rev() {
        let Some(begun) = begun(&listed.path).filter(|_| group_of(&listed.path) == group) else { continue };
        let young = now.duration_since(begun).is_ok_and(|age| age < SPAN);
        if young
            && listed.bytes < settings.rotate_bytes
            && let Some(current) = go_on(&listed.path, begun)?
        {
            return Ok(current);
        }
    }
    loop {
        let time = DateTime::<Utc>::from(now).format(NAME_TIME);
        let group = group.map(|group| format!(".{group}")).unwrap_or_default();
        let path = directory.join(format!("{time}-{:08x}{group}.{EXTENSION}", fastrand::u32(..)));
        let opened = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Another host may have been quicker to go on with it.
        if file.try_lock().is_ok() {
            return Ok(Current { file, bytes: 0, begun: now, used: HashMap::new() });
        }
    }
}

/// Takes a file that nobody holds. What its last host left unfinished becomes a
/// line of its own, which readers skip.
fn go_on(path: &Path, begun: SystemTime) -> io::Result<Option<Current>> {
    let Ok(mut file) = open(path, true) else { return Ok(None) };
    if file.try_lock().is_err() {
        return Ok(None);
    }
    let metadata = file.metadata()?;
    // It may have been removed before it was locked, and one that others may
    // read is not ours.
    if metadata.nlink() == 0 || metadata.mode() & 0o077 != 0 {
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
    let used = if group_of(path).is_none() { used(&mut file)? } else { HashMap::new() };
    Ok(Some(Current { file, bytes, begun, used }))
}

/// Whose the lines of a file are. It is as long as a full one at most.
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

/// Opens a file that is there, and no link to another one.
pub(crate) fn open(path: &Path, write: bool) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).append(write).custom_flags(flags).open(path)
}

impl Current {
    /// Whether so many bytes more belong into another file.
    pub(crate) fn is_full(&self, more: u64, settings: &Settings) -> bool {
        let old = self.begun.elapsed().is_ok_and(|age| age >= SPAN);
        self.bytes > 0 && (old || self.bytes.saturating_add(more) > settings.rotate_bytes)
    }

    /// What this party has of a shared file.
    pub(crate) fn used_by(&self, party: &Party) -> u64 {
        self.used.get(party).copied().unwrap_or_default()
    }

    /// Counts a line that will be written.
    pub(crate) fn count(&mut self, party: &Party, bytes: u64) {
        *self.used.entry(party.clone()).or_default() += bytes;
    }

    /// Writes whole lines, all of them or none.
    pub(crate) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self.file.write_all(lines) {
            Ok(()) => {
                self.bytes += lines.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A disk that is full took a part.
                self.file.set_len(self.bytes)?;
                Err(error)
            }
        }
    }
}

/// Removes files that are too many or too old, and that nobody writes. Shared files make
/// room for shared ones alone.
pub(crate) fn prune(directory: &Path, settings: &Settings, now: SystemTime) -> io::Result<()> {
    let mut listed = list(directory)?;
    listed.sort_by_key(|file| std::cmp::Reverse(file.modified));
    let (own, shared): (Vec<_>, Vec<_>) = listed.into_iter().partition(|file| group_of(&file.path).is_some());
    let is_old = |file: &Listed| now.duration_since(file.modified).is_ok_and(|age| age > settings.keep);
    let mut left = 0;
    for (place, file) in shared.iter().enumerate() {
        let too_many = is_old(file) || place >= settings.keep_files;
        if !(too_many && remove(file)?) {
            left += file.bytes;
        }
    }
    let mut groups: HashMap<&str, Vec<&Listed>> = HashMap::new();
    for file in &own {
        if !(is_old(file) && remove(file)?) {
            groups.entry(group_of(&file.path).unwrap_or_default()).or_default().push(file);
        }
    }
    let most = settings.rotate_bytes.saturating_mul(settings.keep_files as u64);
    // One file may be written in any case, and a full one stays beside it: a party that has
    // just begun another keeps its last lines.
    let most = most.saturating_sub(left).max(settings.rotate_bytes.saturating_mul(2));
    let bytes = |files: &[&Listed]| files.iter().map(|file| file.bytes).sum::<u64>();
    let mut all = groups.values().map(|files| bytes(files)).sum::<u64>();
    while all > most {
        // Of the party that has most, the oldest.
        let Some(files) = groups.values_mut().max_by_key(|files| bytes(files)) else { return Ok(()) };
        let Some(oldest) = files.pop() else { return Ok(()) };
        remove(oldest)?;
        all -= oldest.bytes;
    }
    Ok(())
}

/// Removes a file that nobody writes; whether it is gone.
fn remove(file: &Listed) -> io::Result<bool> {
    // Another host may have removed it.
    let Ok(held) = open(&file.path, false) else { return Ok(true) };
    if held.try_lock().is_err() {
        return Ok(false);
    }
    match fs::remove_file(&file.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const SETTINGS: Settings = Settings { rotate_bytes: 100, keep_files: 2, keep: Duration::from_secs(3_600) };

    fn names(directory: &Path) -> Vec<PathBuf> {
        list(directory).expect("listed").into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn two_hosts_write_two_files_and_the_next_one_goes_on_with_one_of_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit");
        let mut one = claim(&path, &SETTINGS, None).expect("claimed");
        let mut other = claim(&path, &SETTINGS, None).expect("claimed");
        one.write(b"1\n").expect("written");
        other.write(b"2\n").expect("written");
        assert_eq!(names(&path).len(), 2);
        drop((one, other));
        let mut next = claim(&path, &SETTINGS, None).expect("claimed");
        next.write(b"3\n").expect("written");
        let files = names(&path);
        assert_eq!(files.len(), 2);
        let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).expect("text")).collect();
        assert!(texts.iter().any(|text| text == "1\n3\n" || text == "2\n3\n"), "{texts:?}");
        for file in &files {
            assert_eq!(file.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_was_left_unfinished_becomes_a_line_of_its_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut killed = claim(directory.path(), &SETTINGS, None).expect("claimed");
        killed.write(b"whole\nhal").expect("written");
        drop(killed);
        claim(directory.path(), &SETTINGS, None).expect("claimed").write(b"next\n").expect("written");
        let text = fs::read_to_string(&names(directory.path())[0]).expect("text");
        assert_eq!(text, "whole\nhal\nnext\n");
    }

    #[test]
    fn a_full_file_is_not_gone_on_with_and_a_link_never() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut full = claim(directory.path(), &SETTINGS, None).expect("claimed");
        full.write(&[b'x'; 100]).expect("written");
        assert!(full.is_full(1, &SETTINGS));
        drop(full);
        let precious = directory.path().join("precious");
        fs::write(&precious, "mine").expect("written");
        let link = directory.path().join(format!("{}-00000000.jsonl", Utc::now().format(NAME_TIME)));
        std::os::unix::fs::symlink(&precious, link).expect("linked");
        claim(directory.path(), &SETTINGS, None).expect("claimed").write(b"next\n").expect("written");
        assert_eq!(fs::read_to_string(&precious).expect("text"), "mine");
        assert_eq!(names(directory.path()).len(), 2);
    }

    #[test]
    fn files_are_kept_by_number_and_age_and_those_in_use_always() {
        let directory = tempfile::tempdir().expect("a directory");
        let held: Vec<_> = (0..4).map(|_| claim(directory.path(), &SETTINGS, None).expect("claimed")).collect();
        prune(directory.path(), &SETTINGS, SystemTime::now()).expect("pruned");
        assert_eq!(names(directory.path()).len(), 4);
        drop(held);
        prune(directory.path(), &SETTINGS, SystemTime::now()).expect("pruned");
        assert_eq!(names(directory.path()).len(), 2);
        let later = SystemTime::now() + Duration::from_secs(7_200);
        prune(directory.path(), &SETTINGS, later).expect("pruned");
        assert!(names(directory.path()).is_empty());
    }
}
