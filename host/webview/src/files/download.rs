//! A download on its way from where a backend has put it into a workspace.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Uid, fchown, fstat, openat, renameat_with, unlinkat},
    io::Errno,
    process::geteuid,
};
use wharf_core::handle::Handle;

use super::{
    beneath::{beneath, directory, regular, root},
    name::{clean, numbered},
};
use crate::PageWorkspace;

/// The directory of the workspace to which downloads go.
const DIRECTORY: &str = "downloads";
/// How many files of one name there may be.
const MAXIMUM_NUMBER: u32 = 1_000;

/// Puts a staged download where it belongs, and says where that is in the workspace.
/// `writer` is the user that runs the browser, where that is another one than the host's.
pub(crate) fn keep(
    workspace: &PageWorkspace,
    staged: &Path,
    name: &str,
    limit_bytes: u64,
    writer: Option<u32>,
) -> Result<String, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let source = staged_file(staged, writer).map_err(failed("what the browser stored cannot be read"))?;
    let folder = folder(workspace).map_err(failed("the directory `downloads` of the workspace cannot be used"))?;
    let kept = copy(workspace, source, &folder, &clean(name), limit_bytes);
    kept.map_err(failed("it cannot be stored in the workspace"))?
        .ok_or_else(|| format!("it has more than {limit_bytes} bytes (limit `download_bytes`)"))
}

/// Removes a staged download that is not kept.
pub(crate) fn discard(staged: &Path) {
    // It goes with the browser's own directory in the end.
    if let Err(error) = std::fs::remove_file(staged)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "a download that is not kept cannot be removed");
    }
}

/// Opens what was staged: a file of the browser or of the host, and no link to one
/// that only the host may read.
fn staged_file(staged: &Path, writer: Option<u32>) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = regular(openat(CWD, staged, flags, Mode::empty())?)?;
    let owner = fstat(&file)?.st_uid;
    if owner != writer.unwrap_or(geteuid().as_raw()) {
        return Err(Errno::PERM.into());
    }
    Ok(file.into())
}

fn folder(workspace: &PageWorkspace) -> io::Result<OwnedFd> {
    let files = root(&workspace.files)?;
    let (folder, made) = directory(&files, DIRECTORY, Mode::from_raw_mode(0o755))?;
    if made {
        give(workspace, &folder, &files)?;
    }
    Ok(folder)
}

/// Gives a new file or directory to the owner of the workspace.
fn give(workspace: &PageWorkspace, made: impl AsFd, below: impl AsFd) -> io::Result<()> {
    if let Some(user) = workspace.user {
        let group = fstat(below)?.st_gid;
        fchown(made, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
    }
    Ok(())
}

/// Copies a file to a name that is free. Nothing where it is too large.
fn copy(
    workspace: &PageWorkspace,
    source: File,
    folder: &OwnedFd,
    name: &str,
    limit_bytes: u64,
) -> io::Result<Option<String>> {
    let part = format!(".{}.part", Handle::random()?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let made = beneath(folder, Path::new(&part), flags, Mode::from_raw_mode(0o644))?;
    let remove = || unlinkat(folder, part.as_str(), AtFlags::empty());
    let copied = give(workspace, &made, folder).and_then(|()| {
        let mut made = File::from(made);
        io::copy(&mut source.take(limit_bytes.saturating_add(1)), &mut made)
    });
    match copied {
        Ok(bytes) if bytes <= limit_bytes => {}
        too_large_or_failed => {
            remove()?;
            return too_large_or_failed.map(|_| None);
        }
    }
    for number in 1..=MAXIMUM_NUMBER {
        let name = numbered(name, number);
        match renameat_with(folder, part.as_str(), folder, name.as_str(), RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(Some(format!("{DIRECTORY}/{name}"))),
            Err(Errno::EXIST) => {}
            Err(error) => {
                remove()?;
                return Err(error.into());
            }
        }
    }
    remove()?;
    Err(Errno::EXIST.into())
}
