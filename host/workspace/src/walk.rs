//! The files below an open directory, one after the other, for an archive. Programs may change
//! them meanwhile.
//!
//! Nothing outside the directory is read, whatever becomes of names: every step goes by an open
//! directory and follows no link.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::{
    fs::{Dir, DirEntry, Metadata, OpenOptions},
    time::SystemClock,
};

/// How many of the files that are left out are named.
const MOST_NAMED: usize = 1_000;

/// A file, directory or link, on its way into an archive or out of one.
pub struct BackupEntry<'e> {
    /// Its path, relative and without `..`.
    pub path: &'e Path,
    /// Its permissions; no other bit of its mode.
    pub mode: u32,
    /// When it was changed, in seconds since 1970.
    pub changed: u64,
    /// What it is.
    pub content: BackupContent<'e>,
}

/// What an entry is.
pub enum BackupContent<'e> {
    /// A directory, which comes before what is in it.
    Directory,
    /// A file of so many bytes.
    File(u64, &'e mut dyn Read),
    /// A link with its target, which nobody follows.
    Link(&'e Path),
}

impl<'e> BackupEntry<'e> {
    /// The same at another path.
    #[must_use]
    #[expect(clippy::needless_match, reason = "a reader may be lent for a shorter time, and the whole of this may not")]
    pub fn at<'a>(self, path: &'a Path) -> BackupEntry<'a>
    where
        'e: 'a,
    {
        let content = match self.content {
            BackupContent::Directory => BackupContent::Directory,
            BackupContent::File(bytes, content) => BackupContent::File(bytes, content),
            BackupContent::Link(target) => BackupContent::Link(target),
        };
        BackupEntry { path, mode: self.mode, changed: self.changed, content }
    }
}

/// Files that are in no archive: no files, or the host may not read them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesLeftOut {
    /// How many.
    pub count: u64,
    /// The first 1,000.
    pub named: Vec<PathBuf>,
}

impl FilesLeftOut {
    /// One more.
    pub fn add(&mut self, path: PathBuf) {
        self.count += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(path);
        }
    }
}

/// What takes the entries, and fails where its archive cannot be written.
pub(crate) type Taker<'t> = dyn FnMut(BackupEntry<'_>) -> io::Result<()> + 't;

/// Which files are taken.
pub(crate) type Choice = fn(&Metadata) -> bool;

/// Hands out what is below `root`, with paths below `base`.
pub(crate) fn walk(
    root: &Dir,
    base: &Path,
    choice: Choice,
    left_out: &mut FilesLeftOut,
    take: &mut Taker<'_>,
) -> io::Result<()> {
    let mut open = vec![PathBuf::new()];
    while let Some(path) = open.pop() {
        let listed = directory(root, &path).and_then(|directory| Ok((directory.entries()?, directory)));
        let Ok((entries, directory)) = listed else {
            left_out.add(base.join(path));
            continue;
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let at = path.join(entry.file_name());
            match add(&directory, &entry, &base.join(&at), choice, take)? {
                Added::Directory => below.push(at),
                Added::Whole => {}
                Added::Nothing => left_out.add(base.join(at)),
            }
        }
        open.extend(below.into_iter().rev());
    }
    Ok(())
}

/// No link leads out of `root`, whatever becomes of the names meanwhile.
fn directory(root: &Dir, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() { root.try_clone() } else { root.open_dir(path) }
}

/// What became of an entry.
enum Added {
    Directory,
    Whole,
    Nothing,
}

/// Fails only where the archive cannot be written, or a file stops being readable.
fn add(parent: &Dir, entry: &DirEntry, at: &Path, choice: Choice, take: &mut Taker<'_>) -> io::Result<Added> {
    let Ok(about) = entry.metadata() else { return Ok(Added::Nothing) };
    if about.is_dir() {
        take(described(&about, at, BackupContent::Directory))?;
        return Ok(Added::Directory);
    }
    if about.is_symlink() {
        let Ok(target) = parent.read_link_contents(entry.file_name()) else { return Ok(Added::Nothing) };
        take(described(&about, at, BackupContent::Link(&target)))?;
        return Ok(Added::Whole);
    }
    // What was a file may be a pipe by now, which must not hold this up.
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let opened = parent.open_with(entry.file_name(), &options).and_then(|file| Ok((file.metadata()?, file)));
    let Some((about, file)) = opened.ok().filter(|(about, _)| about.is_file() && choice(about)) else {
        return Ok(Added::Nothing);
    };
    let size = about.len();
    // It may be cut meanwhile, and its length is written already.
    let mut content = file.take(size).chain(io::repeat(0)).take(size);
    take(described(&about, at, BackupContent::File(size, &mut content)))?;
    Ok(Added::Whole)
}

pub(crate) fn described<'e>(about: &Metadata, path: &'e Path, content: BackupContent<'e>) -> BackupEntry<'e> {
    let changed = about.modified().ok().and_then(|time| time.duration_since(SystemClock::UNIX_EPOCH).ok());
    BackupEntry { path, mode: mode(about), changed: changed.map(|since| since.as_secs()).unwrap_or_default(), content }
}

#[cfg(unix)]
fn mode(about: &Metadata) -> u32 {
    use cap_std::fs::PermissionsExt as _;
    about.permissions().mode() & 0o777
}

/// There are none.
#[cfg(not(unix))]
fn mode(about: &Metadata) -> u32 {
    if about.is_dir() { 0o755 } else { 0o644 }
}
