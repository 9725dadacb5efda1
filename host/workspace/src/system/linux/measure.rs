//! Measures a workspace by the blocks of its files on disk, since a file
//! with holes takes less than its length.
//!
//! The owner of the files may change them meanwhile, so the measurement opens every directory
//! below its parent and follows no link.

use std::{
    ffi::CStr,
    fs::File,
    io,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, StatxFlags, openat, statat, statx},
    io::Errno,
};

use crate::{
    DiskUsage,
    owners::{FileBirth, FileNumber},
};

/// Deepest nesting of directories, counted from the workspace; a deeper one counts as too
/// many entries.
const MAX_DEPTH: usize = 256;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Measures the files below a directory, and stops beyond `most` entries.
pub(crate) fn measure(directory: &Path, most: u64) -> io::Result<DiskUsage> {
    count(openat(CWD, directory, DIRECTORY, Mode::empty())?, most, |_, _, _| {})
}

/// The same for an open directory. `see` is told of each file with its bytes, and may ask when it
/// was made.
pub(crate) fn measure_below(
    directory: &File,
    most: u64,
    see: impl FnMut(FileNumber, u64, &dyn Fn() -> Option<FileBirth>),
) -> io::Result<DiskUsage> {
    count(openat(directory, ".", DIRECTORY, Mode::empty())?, most, see)
}

fn count(
    root: OwnedFd,
    most: u64,
    mut see: impl FnMut(FileNumber, u64, &dyn Fn() -> Option<FileBirth>),
) -> io::Result<DiskUsage> {
    let mut usage = DiskUsage::default();
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
        see(FileNumber { device: stat.st_dev, inode: stat.st_ino }, bytes, &|| birth(parent, name));
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory {
            continue;
        }
        if depth > MAX_DEPTH {
            // A directory that is not measured may hold any number of files.
            usage.entries = most.saturating_add(1);
            usage.incomplete = true;
            return Ok(usage);
        }
        match openat(parent, name, DIRECTORY, Mode::empty()) {
            Ok(child) => levels.push(read(child)?),
            // Its owner removed or replaced it; or closed
            // it to all, and a host that is not root cannot open it.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(Errno::ACCESS) => usage.incomplete = true,
            Err(error) => return Err(error.into()),
        }
    }
}

/// When a file was made; nothing where its file system does not know, or it is gone.
fn birth(parent: BorrowedFd<'_>, name: &CStr) -> Option<FileBirth> {
    let about = statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let known = StatxFlags::from_bits_retain(about.stx_mask).contains(StatxFlags::BTIME);
    known.then_some(FileBirth(about.stx_btime.tv_sec, about.stx_btime.tv_nsec))
}

fn read(directory: OwnedFd) -> io::Result<Dir> {
    Ok(Dir::new(directory)?)
}
