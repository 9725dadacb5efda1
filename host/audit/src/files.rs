//! The files of lines: claims one for a host to write, and removes old ones.
//!
//! The lock of a file says which host writes it. The next host continues a file
//! that is not full and not locked, so that many short-lived hosts leave
//! few files. A file with a group in its name is one party's alone; parties share the others.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chrono::{DateTime, NaiveDateTime, Utc};
use wharf_core::Digest;
use wharf_files::{private_files, regular_file};

use crate::line::{MAX_LINE_BYTES, Party};

/// The extension of a file.
const EXTENSION: &str = "jsonl";
/// The beginning of a name: the time at which the file was begun.
const NAME_TIME: &str = "%Y%m%dT%H%M%S";
/// How long hosts write one file, so that whole files can expire by age.
const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// The parts of a shared file, of which a party may fill one.
pub(crate) const PARTS: u64 = 8;
/// Digits of a digest that name a group.
const GROUP_DIGITS: usize = 16;

/// How long and how many files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFileOptions {
    /// Bytes of a full file.
    pub rotate_bytes: u64,
    /// Number of shared files; a file that a host writes never counts as
    /// one too many. Files of single tenants share the bytes of this many
    /// full files, less those of the shared ones, and the tenant with
    /// most bytes loses its oldest files first.
    pub keep_files: usize,
    /// How long a file is kept after its last line.
    pub keep: Duration,
}

/// The file that a host writes.
#[derive(Debug)]
pub(crate) struct CurrentFile {
    file: File,
    bytes: u64,
    begun: SystemTime,
    /// Bytes of each party, in a shared file.
    used: HashMap<Party, u64>,
}

/// A file in the directory.
#[derive(Debug, Clone)]
pub(crate) struct AuditFile {
    pub(crate) path: PathBuf,
    pub(crate) modified: SystemTime,
    pub(crate) bytes: u64,
}

/// The files of a directory, oldest first; none for an absent directory.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<AuditFile>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        // `metadata` of an entry follows no link.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
            listed.push(AuditFile { path, modified: metadata.modified()?, bytes: metadata.len() });
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

/// The group of a file; none for a shared file.
fn group_of(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.split_once('.').map(|(_, group)| group)
}

/// The time at which the file was begun, by its name.
fn begun(path: &Path) -> Option<SystemTime> {
    let (time, _) = path.file_stem()?.to_str()?.split_once('-')?;
    Some(NaiveDateTime::parse_from_str(time, NAME_TIME).ok()?.and_utc().into())
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
    for listed in list(directory)?.into_iter().rev() {
        let Some(begun) = begun(&listed.path).filter(|_| group_of(&listed.path) == group) else { continue };
        let young = now.duration_since(begun).is_ok_and(|age| age < SPAN);
        if young
            && listed.bytes < options.rotate_bytes
            && let Some(current) = go_on(&listed.path, begun)?
        {
            return Ok(current);
        }
    }
    loop {
        let time = DateTime::<Utc>::from(now).format(NAME_TIME);
        let group = group.map(|group| format!(".{group}")).unwrap_or_default();
        let path = directory.join(format!("{time}-{:08x}{group}.{EXTENSION}", fastrand::u32(..)));
        let opened = private_files::options().read(true).append(true).create_new(true).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Another host may have claimed it first.
        if file.try_lock().is_ok() {
            return Ok(CurrentFile { file, bytes: 0, begun: now, used: HashMap::new() });
        }
    }
}

/// Claims a file without a lock. An unfinished line of its last host becomes a
/// line of its own, which readers skip.
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
    let used = if group_of(path).is_none() { used(&mut file)? } else { HashMap::new() };
    Ok(Some(CurrentFile { file, bytes, begun, used }))
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

    /// Writes whole lines, all of them or none. `now` becomes the file's time: the system would
    /// give it that of the wall clock, which may be years behind, and would look old once the
    /// clock is right again.
    pub(crate) fn write(&mut self, lines: &[u8], now: SystemTime) -> io::Result<()> {
        match self.file.write_all(lines) {
            Ok(()) => {
                self.bytes += lines.len() as u64;
                // The lines are there, whatever their file's time is.
                let _ = self.file.set_modified(now);
                Ok(())
            }
            Err(error) => {
                // A full disk took a part of them.
                self.file.set_len(self.bytes)?;
                Err(error)
            }
        }
    }
}

/// Removes files beyond the limits of number and age that no host writes. Shared files make
/// room for shared files alone.
pub(crate) fn prune(directory: &Path, options: &AuditFileOptions, now: SystemTime) -> io::Result<()> {
    let mut listed = list(directory)?;
    listed.sort_by_key(|file| std::cmp::Reverse(file.modified));
    let (own, shared): (Vec<_>, Vec<_>) = listed.into_iter().partition(|file| group_of(&file.path).is_some());
    let is_old = |file: &AuditFile| now.duration_since(file.modified).is_ok_and(|age| age > options.keep);
    let mut left = 0;
    for (position, file) in shared.iter().enumerate() {
        let too_many = is_old(file) || position >= options.keep_files;
        if !(too_many && remove(file)?) {
            left += file.bytes;
        }
    }
    let mut groups: HashMap<&str, Vec<&AuditFile>> = HashMap::new();
    for file in &own {
        if !(is_old(file) && remove(file)?) {
            groups.entry(group_of(&file.path).unwrap_or_default()).or_default().push(file);
        }
    }
    let most = options.rotate_bytes.saturating_mul(options.keep_files as u64);
    // Room for one file that is being written and a full one beside it: a party that has
    // just begun another file keeps its last lines.
    let most = most.saturating_sub(left).max(options.rotate_bytes.saturating_mul(2));
    let bytes = |files: &[&AuditFile]| files.iter().map(|file| file.bytes).sum::<u64>();
    let mut all = groups.values().map(|files| bytes(files)).sum::<u64>();
    while all > most {
        // The oldest file of the party with most bytes.
        let Some(files) = groups.values_mut().max_by_key(|files| bytes(files)) else { return Ok(()) };
        let Some(oldest) = files.pop() else { return Ok(()) };
        remove(oldest)?;
        all -= oldest.bytes;
    }
    Ok(())
}

/// Removes a file that no host writes; whether it is gone.
fn remove(file: &AuditFile) -> io::Result<bool> {
    // Another host may have removed it.
    let Ok(held) = regular_file::open_itself(&file.path) else { return Ok(true) };
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

    const OPTIONS: AuditFileOptions =
        AuditFileOptions { rotate_bytes: 100, keep_files: 2, keep: Duration::from_secs(3_600) };

    fn names(directory: &Path) -> Vec<PathBuf> {
        list(directory).expect("listed").into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn two_hosts_write_two_files_and_the_next_one_goes_on_with_one_of_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit");
        let mut one = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
        let mut other = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
        one.write(b"1\n", SystemTime::now()).expect("written");
        other.write(b"2\n", SystemTime::now()).expect("written");
        assert_eq!(names(&path).len(), 2);
        drop((one, other));
        let mut next = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
        next.write(b"3\n", SystemTime::now()).expect("written");
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
        let mut killed = claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed");
        killed.write(b"whole\nhal", SystemTime::now()).expect("written");
        drop(killed);
        claim(directory.path(), &OPTIONS, None, SystemTime::now())
            .expect("claimed")
            .write(b"next\n", SystemTime::now())
            .expect("written");
        let text = fs::read_to_string(&names(directory.path())[0]).expect("text");
        assert_eq!(text, "whole\nhal\nnext\n");
    }

    #[test]
    fn a_full_file_is_not_gone_on_with_and_a_link_never() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut full = claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed");
        full.write(&[b'x'; 100], SystemTime::now()).expect("written");
        assert!(full.is_full(1, &OPTIONS, SystemTime::now()));
        drop(full);
        let precious = directory.path().join("precious");
        fs::write(&precious, "mine").expect("written");
        let link = directory.path().join(format!("{}-00000000.jsonl", Utc::now().format(NAME_TIME)));
        std::os::unix::fs::symlink(&precious, link).expect("linked");
        claim(directory.path(), &OPTIONS, None, SystemTime::now())
            .expect("claimed")
            .write(b"next\n", SystemTime::now())
            .expect("written");
        assert_eq!(fs::read_to_string(&precious).expect("text"), "mine");
        assert_eq!(names(directory.path()).len(), 2);
    }

    #[test]
    fn a_file_that_was_written_under_a_clock_that_is_behind_is_not_old_once_it_is_right() {
        let directory = tempfile::tempdir().expect("a directory");
        // The host has counted on, and the system's clock was set back by five years.
        let counted = SystemTime::now() + Duration::from_secs(5 * 365 * 24 * 3_600);
        let mut file = claim(directory.path(), &OPTIONS, None, counted).expect("claimed");
        file.write(b"1\n", counted).expect("written");
        assert!(!file.is_full(1, &OPTIONS, counted));
        assert!(file.is_full(1, &OPTIONS, counted + SPAN), "a day of the host's is over");
        drop(file);
        prune(directory.path(), &OPTIONS, counted + OPTIONS.keep).expect("pruned");
        assert_eq!(names(directory.path()).len(), 1);
        prune(directory.path(), &OPTIONS, counted + 2 * OPTIONS.keep).expect("pruned");
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn files_are_kept_by_number_and_age_and_those_in_use_always() {
        let directory = tempfile::tempdir().expect("a directory");
        let held: Vec<_> =
            (0..4).map(|_| claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed")).collect();
        prune(directory.path(), &OPTIONS, SystemTime::now()).expect("pruned");
        assert_eq!(names(directory.path()).len(), 4);
        drop(held);
        prune(directory.path(), &OPTIONS, SystemTime::now()).expect("pruned");
        assert_eq!(names(directory.path()).len(), 2);
        let later = SystemTime::now() + Duration::from_secs(7_200);
        prune(directory.path(), &OPTIONS, later).expect("pruned");
        assert!(names(directory.path()).is_empty());
    }
}
