//! Files for guests: opening and making below a directory that was handed out.
//!
//! WASI's own `open` waits for the other end of a FIFO, which may never come, and opens
//! devices. This one opens regular files and directories alone and never waits, and what it
//! makes belongs to the owner of the directory. It reports how much each change made or
//! freed; it never knows whose directory it is, or how much fits there.

pub(crate) mod listing;
pub(crate) mod meter;
pub(crate) mod reader;
pub(crate) mod writer;

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path},
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, fchmod, fchown, fstat, ftruncate, linkat,
        mkdirat, openat2, renameat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};
use wharf_workspace::{FileNumber, SpaceChange};

/// A rename next to the path may make the system give up; it seldom does so
/// twice.
const ATTEMPTS: usize = 64;

/// How something is opened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenRequest {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) exclusive: bool,
    pub(crate) truncate: bool,
    pub(crate) directory: bool,
    pub(crate) follow: bool,
}

/// A file or directory that is open now.
#[derive(Debug)]
pub(crate) enum OpenedEntry {
    File(File),
    Directory(File),
}

/// Bytes that a file takes on disk.
fn taken(stat: &Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512)
}

/// The number of a file.
fn number(stat: &Stat) -> FileNumber {
    FileNumber { device: stat.st_dev, inode: stat.st_ino }
}

/// What goes with the last name of a file; nothing with one of several names, or a name
/// of something else.
fn freed_with(stat: &Stat) -> u64 {
    let last = stat.st_nlink <= 1 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if last { taken(stat) } else { 0 }
}

/// What the end of a name comes to.
fn gone(stat: &Stat) -> SpaceChange {
    SpaceChange { file: Some(number(stat)), freed_bytes: freed_with(stat), gone: 1, ..SpaceChange::default() }
}

/// Opens a path below a directory.
///
/// No link leads out of it, and what is neither a regular file nor a directory
/// is refused with `EPERM`.
pub(crate) fn open(directory: impl AsFd, path: &Path, opening: OpenRequest) -> io::Result<(OpenedEntry, SpaceChange)> {
    // Without waiting for the other end of a FIFO; a file does not mind.
    let mut flags = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    flags |= match (opening.read, opening.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    flags.set(OFlags::DIRECTORY, opening.directory);
    flags.set(OFlags::NOFOLLOW, !opening.follow);
    let directory = directory.as_fd();
    let new = OFlags::CREATE | OFlags::EXCL;
    let mut change = SpaceChange::default();
    let mut made = |opened| {
        change.made = 1;
        created(directory, opened)
    };
    let opened = if !opening.create {
        beneath(directory, path, flags)?
    } else if opening.exclusive {
        made(beneath(directory, path, flags | new)?)?
    } else {
        // Two steps, to know whether it was made here.
        let mut attempts = 0;
        loop {
            match beneath(directory, path, flags) {
                Err(Errno::NOENT) => {}
                opened => break opened?,
            }
            match beneath(directory, path, flags | new) {
                // Another program was faster, or it is a link to nothing.
                Err(Errno::EXIST) if attempts < ATTEMPTS => attempts += 1,
                opened => break made(opened?)?,
            }
        }
    };
    let stat = fstat(&opened)?;
    change.file = Some(number(&stat));
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            // Here and not by the system, to know how much it frees.
            if opening.truncate && stat.st_size > 0 {
                ftruncate(&opened, 0)?;
                change.freed_bytes = taken(&stat);
            }
            Ok((OpenedEntry::File(opened.into()), change))
        }
        FileType::Directory => Ok((OpenedEntry::Directory(opened.into()), change)),
        _ => Err(Errno::PERM.into()),
    }
}

/// Makes a directory below another one.
pub(crate) fn make_directory(directory: impl AsFd, path: &Path) -> io::Result<SpaceChange> {
    let directory = directory.as_fd();
    // What has no name is the directory itself, or lies above it.
    let (above, name) = split(directory, path)?.ok_or(Errno::EXIST)?;
    mkdirat(&above, name, Mode::from_raw_mode(0o777))?;
    let made = beneath(above.as_fd(), Path::new(name), OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
    let made = created(directory, made)?;
    Ok(SpaceChange { file: Some(number(&fstat(&made)?)), made: 1, ..SpaceChange::default() })
}

/// Gives a file or directory another name, maybe below another directory.
///
/// A file that takes the place of another one gets its permissions: WASI knows
/// none, so a guest that replaces a script could not keep it executable.
pub(crate) fn rename(from: impl AsFd, path: &Path, to: impl AsFd, new: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split(from.as_fd(), path)?.ok_or(Errno::PERM)?;
    let (new_above, new_name) = split(to.as_fd(), new)?.ok_or(Errno::PERM)?;
    let regular = |above: &OwnedFd, name: &OsStr| {
        let stat = statat(above, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
    };
    if let (Some(own), Some(replaced)) = (regular(&above, name), regular(&new_above, new_name)) {
        let mode = Mode::from_raw_mode(replaced.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        // The very file that was looked at: by now another may have its name.
        let opened = beneath(above.as_fd(), Path::new(name), flags)?;
        let same = fstat(&opened)?;
        if (same.st_dev, same.st_ino) == (own.st_dev, own.st_ino) {
            fchmod(&opened, mode)?;
        }
    }
    let replaced = statat(&new_above, new_name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // Of two names of the same file, both stay.
    let own = statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let replaced = replaced.filter(|replaced| (replaced.st_dev, replaced.st_ino) != (own.st_dev, own.st_ino));
    renameat(&above, name, &new_above, new_name)?;
    let moved = SpaceChange { moved: true, ..SpaceChange::default() };
    let freed = replaced.map(|replaced| gone(&replaced));
    Ok(freed.map_or(moved, |freed| SpaceChange { moved: true, ..freed }))
}

/// Removes a file, or anything else but a directory.
pub(crate) fn unlink(directory: impl AsFd, path: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split(directory.as_fd(), path)?.ok_or(Errno::PERM)?;
    let stat = statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    unlinkat(&above, name, AtFlags::empty())?;
    Ok(gone(&stat))
}

/// Makes a symbolic link to a relative path.
pub(crate) fn symlink(target: &Path, directory: impl AsFd, path: &Path) -> io::Result<SpaceChange> {
    if !target.is_relative() {
        return Err(Errno::PERM.into());
    }
    let (above, name) = split(directory.as_fd(), path)?.ok_or(Errno::EXIST)?;
    symlinkat(target, &above, name)?;
    Ok(SpaceChange { made: 1, ..SpaceChange::default() })
}

/// Gives a file a further name. No link is followed.
pub(crate) fn link(from: impl AsFd, path: &Path, to: impl AsFd, new: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split(from.as_fd(), path)?.ok_or(Errno::PERM)?;
    let (new_above, new_name) = split(to.as_fd(), new)?.ok_or(Errno::EXIST)?;
    linkat(&above, name, &new_above, new_name, AtFlags::empty())?;
    Ok(SpaceChange { made: 1, ..SpaceChange::default() })
}

/// The directory above a path, opened, and the name in it; nothing where the
/// path has none.
fn split<'p>(directory: BorrowedFd<'_>, path: &'p Path) -> Result<Option<(OwnedFd, &'p OsStr)>, Errno> {
    let mut parts = path.components();
    let Some(Component::Normal(name)) = parts.next_back() else { return Ok(None) };
    let above = parts.as_path();
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Some((beneath(directory, above, flags)?, name)))
}

fn beneath(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(directory, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            // It would have left the directory.
            Err(Errno::XDEV) => return Err(Errno::PERM),
            // A FIFO that nobody reads.
            Err(Errno::NXIO) => return Err(Errno::PERM),
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

/// Gives what a host that is root has made to the owner of the directory.
fn created(directory: BorrowedFd<'_>, made: OwnedFd) -> io::Result<OwnedFd> {
    let (owner, own) = (fstat(directory)?, fstat(&made)?);
    if (owner.st_uid, owner.st_gid) != (own.st_uid, own.st_gid) && own.st_uid == 0 {
        fchown(&made, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid)))?;
    }
    Ok(made)
}

/// Opens a directory of the host's, to be handed to a guest.
pub(crate) fn root(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests;
