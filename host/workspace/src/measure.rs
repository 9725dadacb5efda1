//! How much a workspace holds: by what its files take on disk, since a file
//! with holes takes less than its length says.
//!
//! Whoever owns the files may change them meanwhile, so every directory is
//! opened below its parent, and no link is followed.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, statat},
    io::Errno,
};

/// Directories may be nested so deep, counted from the workspace; more is as bad as too
/// many entries.
const MAX_DEPTH: usize = 256;

/// What a workspace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Bytes that its files and directories take on disk.
    pub bytes: u64,
    /// Files and directories, itself not counted.
    pub entries: u64,
    /// Not all was counted: there are more entries than was asked for, or
    /// directories are nested more than 256 deep.
    pub incomplete: bool,
}

impl Usage {
    pub(crate) fn add(&mut self, part: &Self) {
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.entries = self.entries.saturating_add(part.entries);
        self.incomplete |= part.incomplete;
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Counts what lies below a directory, and stops beyond `most` entries.
pub(crate) fn measure(directory: &Path, most: u64) -> io::Result<Usage> {
    count(openat(CWD, directory, DIRECTORY, Mode::empty())?, most)
}

/// The same of a directory that is open.
pub(crate) fn measure_below(directory: impl AsFd, most: u64) -> io::Result<Usage> {
    count(openat(directory, ".", DIRECTORY, Mode::empty())?, most)
}

fn count(root: OwnedFd, most: u64) -> io::Result<Usage> {
    let mut usage = Usage::default();
    // One open directory for each level.
    let mut levels = vec![read(root)?];
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { return Ok(usage) };
        let Some(entry) = level.read() else {
            levels.pop();
            continue;
        };
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        usage.entries += 1;
        if usage.entries > most {
            usage.incomplete = true;
            return Ok(usage);
        }
        let parent = level.fd()?;
        let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // It has just been removed.
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        let bytes = u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512);
        usage.bytes = usage.bytes.saturating_add(bytes);
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory {
            continue;
        }
        if depth > MAX_DEPTH {
            // What is not looked at may hold anything, so it is too much.
            usage.entries = most.saturating_add(1);
            usage.incomplete = true;
            return Ok(usage);
        }
        match openat(parent, name, DIRECTORY, Mode::empty()) {
            Ok(child) => levels.push(read(child)?),
            // Removed, or replaced by something else; or its owner has closed
            // it to everybody, which a host that is not root has to respect.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(Errno::ACCESS) => usage.incomplete = true,
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(directory: OwnedFd) -> io::Result<Dir> {
    Ok(Dir::new(directory)?)
}
