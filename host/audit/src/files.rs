//! The files: which one a host writes, and which are kept.
//!
//! A file belongs to whoever holds its lock. The next host goes on with one
//! that is not full and that nobody holds, so that many short-lived hosts leave
//! few files.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chrono::{DateTime, NaiveDateTime, Utc};

/// What the name of a file ends with.
const EXTENSION: &str = "jsonl";
/// How a name begins: when the file was.
const NAME_TIME: &str = "%Y%m%dT%H%M%S";
/// How long one file is written, so that age can be kept by whole files.
const SPAN: Duration = Duration::from_secs(24 * 60 * 60);

/// How files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// A file of this size is full.
    pub rotate_bytes: u64,
    /// How many files are kept, those that are being written not counted as
    /// too many.
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

/// When the file was begun, by its name.
fn begun(path: &Path) -> Option<SystemTime> {
    let (time, _) = path.file_stem()?.to_str()?.split_once('-')?;
    Some(NaiveDateTime::parse_from_str(time, NAME_TIME).ok()?.and_utc().into())
}

/// A file to write: one that nobody holds, or a new one.
pub(crate) fn claim(directory: &Path, settings: &Settings) -> io::Result<Current> {
    DirBuilder::new().mode(0o700).recursive(true).create(directory)?;
    let now = SystemTime::now();
    for listed in list(directory)?.into_iter().rev() {
        let Some(begun) = begun(&listed.path) else { continue };
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
        let path = directory.join(format!("{time}-{:08x}.{EXTENSION}", fastrand::u32(..)));
        let opened = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Another host may have been quicker to go on with it.
        if file.try_lock().is_ok() {
            return Ok(Current { file, bytes: 0, begun: now });
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
    Ok(Some(Current { file, bytes, begun }))
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

/// Removes files that are too many or too old, and that nobody writes.
pub(crate) fn prune(directory: &Path, settings: &Settings, now: SystemTime) -> io::Result<()> {
    let mut listed = list(directory)?;
    listed.sort_by_key(|file| std::cmp::Reverse(file.modified));
    for (place, file) in listed.iter().enumerate() {
        let old = now.duration_since(file.modified).is_ok_and(|age| age > settings.keep);
        if !old && place < settings.keep_files {
            continue;
        }
        // Another host may have removed it.
        let Ok(held) = open(&file.path, false) else { continue };
        if held.try_lock().is_ok() {
            fs::remove_file(&file.path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
        }
    }
    Ok(())
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
        let mut one = claim(&path, &SETTINGS).expect("claimed");
        let mut other = claim(&path, &SETTINGS).expect("claimed");
        one.write(b"1\n").expect("written");
        other.write(b"2\n").expect("written");
        assert_eq!(names(&path).len(), 2);
        drop((one, other));
        let mut next = claim(&path, &SETTINGS).expect("claimed");
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
        let mut killed = claim(directory.path(), &SETTINGS).expect("claimed");
        killed.write(b"whole\nhal").expect("written");
        drop(killed);
        claim(directory.path(), &SETTINGS).expect("claimed").write(b"next\n").expect("written");
        let text = fs::read_to_string(&names(directory.path())[0]).expect("text");
        assert_eq!(text, "whole\nhal\nnext\n");
    }

    #[test]
    fn a_full_file_is_not_gone_on_with_and_a_link_never() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut full = claim(directory.path(), &SETTINGS).expect("claimed");
        full.write(&[b'x'; 100]).expect("written");
        assert!(full.is_full(1, &SETTINGS));
        drop(full);
        let precious = directory.path().join("precious");
        fs::write(&precious, "mine").expect("written");
        let link = directory.path().join(format!("{}-00000000.jsonl", Utc::now().format(NAME_TIME)));
        std::os::unix::fs::symlink(&precious, link).expect("linked");
        claim(directory.path(), &SETTINGS).expect("claimed").write(b"next\n").expect("written");
        assert_eq!(fs::read_to_string(&precious).expect("text"), "mine");
        assert_eq!(names(directory.path()).len(), 2);
    }

    #[test]
    fn files_are_kept_by_number_and_age_and_those_in_use_always() {
        let directory = tempfile::tempdir().expect("a directory");
        let held: Vec<_> = (0..4).map(|_| claim(directory.path(), &SETTINGS).expect("claimed")).collect();
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
