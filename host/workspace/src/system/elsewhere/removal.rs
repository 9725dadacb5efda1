//! Removing a tree whose owner may still be at work in it.
//!
//! The removal works on open directories and on names right below them, follows no link,
//! and holds two directories open, however deep the tree is: it moves nested directories
//! up before it removes them.

use std::{fs::File, io, path::Path};

use cap_primitives::fs::{FollowSymlinks, open_dir_nofollow, read_base_dir, remove_dir, remove_file, rename, stat};

use super::{modes::open_to_owner, parent_of};

/// Passes after which the removal gives up on an owner that adds files faster.
const PASSES: usize = 1_000_000;

/// Removes a directory with all files below it.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let (parent, name) = parent_of(path)?;
    let top = open_dir_nofollow(&parent, name)?;
    remove_entries(&top)?;
    // Windows removes no directory that is open.
    drop(top);
    remove_dir(&parent, name)
}

fn remove_entries(top: &File) -> io::Result<()> {
    let mut moved = 0_u64;
    for _ in 0..PASSES {
        let mut empty = true;
        for entry in read_base_dir(top)? {
            empty = false;
            remove_entry(top, entry?.file_name().as_ref(), &mut moved)?;
        }
        if empty {
            return Ok(());
        }
    }
    Err(io::ErrorKind::DirectoryNotEmpty.into())
}

/// Removes a file, or a directory after its own directories were moved up.
fn remove_entry(top: &File, name: &Path, moved: &mut u64) -> io::Result<()> {
    if removed(top, name)? {
        return Ok(());
    }
    let Some(inner) = own(top, name)? else { return Ok(()) };
    for entry in read_base_dir(&inner)? {
        let name = entry?.file_name();
        let name = Path::new(&name);
        // Only a user that may write to a directory can move it.
        if removed(&inner, name)? || own(&inner, name)?.is_none() {
            continue;
        }
        *moved += 1;
        let up = format!(".moved-{moved}");
        unless_changed(rename(&inner, name, top, up.as_ref()))?;
    }
    drop(inner);
    unless_changed(remove_dir(top, name))
}

/// Where a process made a file of this name, or took it away, the system refuses, and the next
/// pass tries again.
fn unless_changed(done: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory, NotFound};

    match done {
        Err(error) if matches!(error.kind(), NotFound | DirectoryNotEmpty | AlreadyExists | NotADirectory) => Ok(()),
        done => done,
    }
}

/// Removes a file; whether it is gone. False for a directory.
fn removed(directory: &File, name: &Path) -> io::Result<bool> {
    match remove_file(directory, name) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(false),
        // Some systems refuse a directory so, and all refuse a protected file so.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let about = stat(directory, name, FollowSymlinks::No)?;
            if about.is_dir() {
                return Ok(false);
            }
            // On Windows a link to a directory is removed as one.
            if cfg!(windows) && about.is_symlink() { remove_dir(directory, name).map(|()| true) } else { Err(error) }
        }
        Err(error) => Err(error),
    }
}

/// Opens a directory right below another one, and opens it to its owner. None where it is
/// gone or no directory any more.
fn own(parent: &File, name: &Path) -> io::Result<Option<File>> {
    let is_directory = || stat(parent, name, FollowSymlinks::No).is_ok_and(|about| about.is_dir());
    // A guest may have closed a directory to its owner, which is the host's own user then.
    match open_to_owner(parent, name).and_then(|()| open_dir_nofollow(parent, name)) {
        Ok(directory) => Ok(Some(directory)),
        Err(_) if !is_directory() => Ok(None),
        Err(error) => Err(error),
    }
}
