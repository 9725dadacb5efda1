//! Removing a tree whose owner may still be at work in it.
//!
//! The removal works on descriptors and on names right below them, follows no link,
//! and holds two directories open, however deep the tree is: it moves nested directories
//! up before it removes them.

use std::{
    ffi::{CStr, OsString},
    io,
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmod, fstat, openat, renameat, statat, unlinkat},
    io::Errno,
    process::geteuid,
};

/// Passes after which the removal gives up on an owner that adds files faster.
const PASSES: usize = 1_000_000;

/// Removes a directory with all files below it.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, path, directory, Mode::empty())?;
    let mut moved = 0_u64;
    for _ in 0..PASSES {
        let mut empty = true;
        let mut entries = Dir::read_from(&top)?;
        while let Some(entry) = entries.read() {
            let entry = entry?;
            if !is_dots(entry.file_name()) {
                empty = false;
                remove_entry(top.as_fd(), entry.file_name(), &mut moved)?;
            }
        }
        if empty {
            return Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?);
        }
    }
    Err(Errno::NOTEMPTY.into())
}

/// Removes a file, or a directory after its own directories were moved up.
fn remove_entry(top: BorrowedFd<'_>, name: &CStr, moved: &mut u64) -> io::Result<()> {
    if unlinked(top, name)? {
        return Ok(());
    }
    let Some(inner) = own(top, name)? else { return Ok(()) };
    let mut entries = Dir::read_from(&inner)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if is_dots(name) || unlinked(inner.as_fd(), name)? {
            continue;
        }
        // Only a user that may write to a directory can move it.
        if own(inner.as_fd(), name)?.is_none() {
            continue;
        }
        *moved += 1;
        // Where a process made a file of this name, the system refuses, and the next pass
        // tries again.
        let up = OsString::from_vec(format!(".moved-{moved}").into_bytes());
        match renameat(&inner, name, top, &up) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        // The next pass finds it again.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file; whether it is gone. False for a directory.
fn unlinked(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<bool> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        // Some systems refuse a directory so, and all refuse a protected file so.
        Err(Errno::PERM) if is_directory(directory, name) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Opens a directory right below another one, and opens it to its owner. None where it is
/// gone or no directory any more.
fn own(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<Option<OwnedFd>> {
    let found = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = match openat(parent, name, found, Mode::empty()) {
        Ok(found) => found,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // A guest may have closed a directory to its owner, which is the host's own user then.
    // Root needs no mode, and changes none.
    let closed = !Mode::from_raw_mode(fstat(&found)?.st_mode).contains(Mode::RWXU);
    if closed && !geteuid().is_root() {
        // This very directory, even under another name: the link leads to the descriptor.
        chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), Mode::RWXU)?;
    }
    let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Some(openat(&found, ".", readable, Mode::empty())?))
}

fn is_directory(parent: BorrowedFd<'_>, name: &CStr) -> bool {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
