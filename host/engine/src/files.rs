//! Files for guests: opening and making below a directory that was handed out.
//!
//! WASI's own `open` waits for the other end of a FIFO, which may never come, and opens
//! devices. This one opens regular files and directories alone and never waits, and what it
//! makes belongs to the owner of the directory. It reports how much each change made or
//! freed; it never knows whose directory it is, or how much fits there.

mod facts;
pub(crate) mod listing;
pub(crate) mod meter;
mod ownership;
pub(crate) mod reader;
pub(crate) mod system;
pub(crate) mod writer;

use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Component, Path},
};

use wharf_workspace::SpaceChange;

use self::{
    facts::{EntryKind, FileFacts},
    system::FileSystem,
};

/// Another program may make or remove what has the path; it seldom does so twice.
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

/// Opens a path below a directory.
///
/// No link leads out of it, and what is neither a regular file nor a directory
/// is refused with `PermissionDenied`.
pub(crate) fn open<S: FileSystem>(
    directory: &File,
    path: &Path,
    request: OpenRequest,
) -> io::Result<(OpenedEntry, SpaceChange)> {
    let (opened, made) = open_or_make::<S>(directory, path, request)?;
    if made {
        ownership::give(&opened, directory)?;
    }
    let facts = S::facts(&opened)?;
    let mut change = SpaceChange { file: Some(facts.number), made: u64::from(made), ..SpaceChange::default() };
    match facts.kind {
        EntryKind::File => {
            // Here and not by the system, to know how much it frees.
            if request.truncate && facts.size > 0 {
                opened.set_len(0)?;
                change.freed_bytes = facts.taken;
            }
            Ok((OpenedEntry::File(opened), change))
        }
        EntryKind::Directory => Ok((OpenedEntry::Directory(opened), change)),
        EntryKind::Other => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Opens what has the path, or makes a file there; says whether it did.
fn open_or_make<S: FileSystem>(directory: &File, path: &Path, request: OpenRequest) -> io::Result<(File, bool)> {
    let existing = || S::open(directory, path, request, false);
    let new = || S::open(directory, path, request, true);
    if !request.create {
        return Ok((existing()?, false));
    }
    if request.exclusive {
        return Ok((new()?, true));
    }
    // Two steps, to know whether it was made here.
    let mut attempts = 0;
    loop {
        match existing() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return Ok((opened?, false)),
        }
        match new() {
            // Another program was faster, or it is a link to nothing.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => attempts += 1,
            opened => return Ok((opened?, true)),
        }
    }
}

/// Makes a directory below another one.
pub(crate) fn make_directory<S: FileSystem>(directory: &File, path: &Path) -> io::Result<SpaceChange> {
    // What has no name is the directory itself, or lies above it.
    let (above, name) = split::<S>(directory, path)?.ok_or(io::ErrorKind::AlreadyExists)?;
    S::make_directory(&above, name)?;
    let request = OpenRequest { read: true, directory: true, ..OpenRequest::default() };
    let made = S::open(&above, Path::new(name), request, false)?;
    ownership::give(&made, directory)?;
    Ok(SpaceChange { file: Some(S::facts(&made)?.number), made: 1, ..SpaceChange::default() })
}

/// Gives a file or directory another name, maybe below another directory.
///
/// A file that takes the place of another one gets its permissions: WASI knows
/// none, so a guest that replaces a script could not keep it executable.
pub(crate) fn rename<S: FileSystem>(from: &File, path: &Path, to: &File, new: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split::<S>(from, path)?.ok_or(io::ErrorKind::PermissionDenied)?;
    let (new_above, new_name) = split::<S>(to, new)?.ok_or(io::ErrorKind::PermissionDenied)?;
    let regular = |above: &File, name: &OsStr| {
        S::facts_at(above, name).ok().filter(|facts: &FileFacts| facts.kind == EntryKind::File)
    };
    if let (Some(own), Some(replaced)) = (regular(&above, name), regular(&new_above, new_name)) {
        // The very file that was looked at: by now another may have its name.
        let request = OpenRequest { read: true, ..OpenRequest::default() };
        let opened = S::open(&above, Path::new(name), request, false)?;
        if S::facts(&opened)?.number == own.number {
            ownership::set_mode(&opened, replaced.mode)?;
        }
    }
    let replaced = S::facts_at(&new_above, new_name).ok();
    // Of two names of the same file, both stay.
    let own = S::facts_at(&above, name)?;
    let replaced = replaced.filter(|replaced| replaced.number != own.number);
    S::rename(&above, name, &new_above, new_name)?;
    let freed = replaced.map_or_else(SpaceChange::default, |replaced| replaced.gone());
    Ok(SpaceChange { moved: true, ..freed })
}

/// Removes a file, or anything else but a directory.
pub(crate) fn unlink<S: FileSystem>(directory: &File, path: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split::<S>(directory, path)?.ok_or(io::ErrorKind::PermissionDenied)?;
    let facts = S::facts_at(&above, name)?;
    S::unlink(&above, name)?;
    Ok(facts.gone())
}

/// Makes a symbolic link to a relative path.
pub(crate) fn symlink<S: FileSystem>(target: &Path, directory: &File, path: &Path) -> io::Result<SpaceChange> {
    if !target.is_relative() || target.has_root() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let (above, name) = split::<S>(directory, path)?.ok_or(io::ErrorKind::AlreadyExists)?;
    S::symlink(target, &above, name)?;
    Ok(SpaceChange { made: 1, ..SpaceChange::default() })
}

/// Gives a file a further name. No link is followed.
pub(crate) fn link<S: FileSystem>(from: &File, path: &Path, to: &File, new: &Path) -> io::Result<SpaceChange> {
    let (above, name) = split::<S>(from, path)?.ok_or(io::ErrorKind::PermissionDenied)?;
    let (new_above, new_name) = split::<S>(to, new)?.ok_or(io::ErrorKind::AlreadyExists)?;
    S::link(&above, name, &new_above, new_name)?;
    Ok(SpaceChange { made: 1, ..SpaceChange::default() })
}

/// The directory above a path, opened, and the name in it; nothing where the
/// path has none.
fn split<'p, S: FileSystem>(directory: &File, path: &'p Path) -> io::Result<Option<(File, &'p OsStr)>> {
    let mut parts = path.components();
    let Some(Component::Normal(name)) = parts.next_back() else { return Ok(None) };
    let above = parts.as_path();
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    Ok(Some((S::directory_above(directory, above)?, name)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
