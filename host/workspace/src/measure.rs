//! How much a workspace holds: by what its files take on disk, since a file
//! with holes takes less than its length says.
//!
//! Whoever owns the files may change them meanwhile, so every directory is
//! opened below its parent, and no link is followed.

use std::{io, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, statat},
    io::Errno,
};

/// Directories may be nested so deep, counted from the workspace.
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

/// Counts what lies below a directory, and stops beyond `most` entries.
pub(crate) fn measure(directory: &Path, most: u64) -> io::Result<Usage> {
    let mut usage = Usage::default();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = openat(CWD, directory, flags, Mode::empty())?;
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
        usage.bytes += u64::try_from(stat.st_blocks).unwrap_or_default() * 512;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory {
            continue;
        }
        if depth > MAX_DEPTH {
            usage.incomplete = true;
            continue;
        }
        match openat(parent, name, flags, Mode::empty()) {
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
