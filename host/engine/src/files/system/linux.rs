//! Linux, whose `openat2` resolves a whole path below a directory.

use std::{
    ffi::{CStr, OsStr},
    fs::File,
    io::{self, IoSlice},
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, linkat, mkdirat, openat, openat2,
        renameat, statat, symlinkat, unlinkat,
    },
    io::{Errno, ReadWriteFlags, pwritev2},
};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use wharf_workspace::FileNumber;

use super::FileSystem;
use crate::files::{
    ATTEMPTS, OpenRequest,
    facts::{EntryKind, FileFacts},
};

pub(crate) struct LinuxFiles;

impl FileSystem for LinuxFiles {
    type Listing = Dir;

    fn root(path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(CWD, path, flags, Mode::empty())?.into())
    }

    fn open(directory: &File, path: &Path, request: OpenRequest, new: bool) -> io::Result<File> {
        // Without waiting for the other end of a FIFO; a file does not mind.
        let mut flags = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags |= match (request.read, request.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            (_, false) => OFlags::RDONLY,
        };
        flags.set(OFlags::DIRECTORY, request.directory);
        flags.set(OFlags::NOFOLLOW, !request.follow);
        flags.set(OFlags::CREATE | OFlags::EXCL, new);
        Ok(beneath(directory, path, flags)?.into())
    }

    fn directory_above(directory: &File, path: &Path) -> io::Result<File> {
        Ok(beneath(directory, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)?.into())
    }

    fn facts(opened: &File) -> io::Result<FileFacts> {
        Ok(facts(&fstat(opened)?))
    }

    fn facts_at(above: &File, name: &OsStr) -> io::Result<FileFacts> {
        Ok(facts(&statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn make_directory(above: &File, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(above, name, Mode::from_raw_mode(0o777))?)
    }

    fn rename(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()> {
        Ok(renameat(above, name, new_above, new_name)?)
    }

    fn unlink(above: &File, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(above, name, AtFlags::empty())?)
    }

    fn symlink(target: &Path, above: &File, name: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, above, name)?)
    }

    fn link(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()> {
        Ok(linkat(above, name, new_above, new_name, AtFlags::empty())?)
    }

    fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    fn append(file: &File, bytes: &[u8]) -> io::Result<usize> {
        match pwritev2(file, &[IoSlice::new(bytes)], 0, ReadWriteFlags::APPEND) {
            // A file system, or a kernel, that cannot do it in one step.
            Err(Errno::NOSYS | Errno::OPNOTSUPP) => file.write_at(bytes, Self::facts(file)?.size),
            written => Ok(written?),
        }
    }

    fn list(directory: &File) -> io::Result<Dir> {
        Ok(Dir::read_from(directory)?)
    }

    fn next_entry(listing: &mut Dir) -> Option<Result<DirectoryEntry, ErrorCode>> {
        loop {
            let entry = match listing.read()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(io::Error::from(error).into())),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            // One that has just been removed is left out.
            if let Some(entry) = described(listing, name, entry.file_type()).transpose() {
                return Some(entry);
            }
        }
    }
}

fn facts(stat: &Stat) -> FileFacts {
    FileFacts {
        number: FileNumber { device: stat.st_dev, inode: stat.st_ino },
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            _ => EntryKind::Other,
        },
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        taken: u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512),
        #[allow(clippy::useless_conversion, reason = "its width differs between processors")]
        names: u64::from(stat.st_nlink),
        mode: stat.st_mode,
    }
}

fn beneath(directory: &File, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(directory, path, flags, mode, resolve) {
            // A rename next to the path made the system give up.
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

/// Nothing where it has just been removed.
fn described(listing: &Dir, name: &CStr, kind: FileType) -> Result<Option<DirectoryEntry>, ErrorCode> {
    let kind = match kind {
        // Not every file system says it in the listing.
        FileType::Unknown => match statat(listing.fd().map_err(io::Error::from)?, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(io::Error::from(error).into()),
        },
        known => known,
    };
    let type_ = match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::Fifo | FileType::Socket | FileType::Unknown => DescriptorType::Unknown,
    };
    let name = name.to_str().map_err(|_| ErrorCode::IllegalByteSequence)?;
    Ok(Some(DirectoryEntry { type_, name: name.to_owned() }))
}
