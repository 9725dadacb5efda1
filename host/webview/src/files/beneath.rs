//! Opening below a directory in which somebody else may put links.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2},
    io::Errno,
};

/// A rename next to the path may make the system give up; it seldom does so twice.
const ATTEMPTS: usize = 64;

/// A directory of the host's, by its path.
pub(super) fn root(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a path below a directory: no link of it is followed.
pub(super) fn beneath(directory: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(&directory, path, flags | OFlags::CLOEXEC, mode, resolve) {
            Err(Errno::AGAIN) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens a regular file below a directory, to be read. Never waits, not even for a pipe.
pub(super) fn file(directory: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    regular(beneath(directory, path, flags, Mode::empty())?)
}

/// Refuses what is no regular file.
pub(super) fn regular(opened: OwnedFd) -> Result<OwnedFd, Errno> {
    match FileType::from_raw_mode(fstat(&opened)?.st_mode) {
        FileType::RegularFile => Ok(opened),
        _ => Err(Errno::INVAL),
    }
}

/// Opens a directory below another one, and makes it where it is not there. Whether
/// it was made.
pub(super) fn directory(above: impl AsFd, name: &str, mode: Mode) -> Result<(OwnedFd, bool), Errno> {
    let made = match mkdirat(&above, name, mode) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    Ok((beneath(above, Path::new(name), flags, Mode::empty())?, made))
}
