//! Systems other than Linux: cap-primitives, with which WASI opens files there, resolves each
//! part of a path below the directory of the one before.

use std::{ffi::OsStr, fs::File, io, path::Path};

use cap_fs_ext::{MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsMaybeDirExt as _};
use cap_primitives::{
    ambient_authority,
    fs::{
        DirOptions, FollowSymlinks, Metadata, OpenOptions, ReadDir, create_dir, hard_link, open, open_ambient_dir,
        open_dir, read_base_dir, remove_file, rename, stat,
    },
};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use wharf_workspace::FileNumber;

use super::FileSystem;
use crate::files::{
    OpenRequest,
    facts::{EntryKind, FileFacts},
};

pub(crate) struct CapabilityFiles;

impl FileSystem for CapabilityFiles {
    type Listing = ReadDir;

    fn root(path: &Path) -> io::Result<File> {
        open_ambient_dir(path, ambient_authority())
    }

    fn open(directory: &File, path: &Path, request: OpenRequest, new: bool) -> io::Result<File> {
        own::check(path)?;
        let mut options = OpenOptions::new();
        options.read(request.read).write(request.write).create_new(new).maybe_dir(true);
        options.follow(if request.follow { FollowSymlinks::Yes } else { FollowSymlinks::No });
        own::wait_for_nobody(&mut options);
        let opened = open(directory, path, &options).map_err(own::open_error)?;
        if request.directory && !Metadata::from_file(&opened)?.is_dir() {
            return Err(own::no_directory());
        }
        Ok(opened)
    }

    fn directory_above(directory: &File, path: &Path) -> io::Result<File> {
        own::check(path)?;
        open_dir(directory, path)
    }

    fn facts(opened: &File) -> io::Result<FileFacts> {
        Ok(facts(&Metadata::from_file(opened)?))
    }

    fn facts_at(above: &File, name: &OsStr) -> io::Result<FileFacts> {
        own::check(name.as_ref())?;
        Ok(facts(&stat(above, name.as_ref(), FollowSymlinks::No)?))
    }

    fn make_directory(above: &File, name: &OsStr) -> io::Result<()> {
        own::check(name.as_ref())?;
        create_dir(above, name.as_ref(), &DirOptions::new())
    }

    fn rename(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()> {
        own::check(new_name.as_ref())?;
        rename(above, name.as_ref(), new_above, new_name.as_ref())
    }

    fn unlink(above: &File, name: &OsStr) -> io::Result<()> {
        remove_file(above, name.as_ref())
    }

    fn symlink(target: &Path, above: &File, name: &OsStr) -> io::Result<()> {
        own::check(name.as_ref())?;
        own::symlink(target, above, name.as_ref())
    }

    fn link(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()> {
        own::check(new_name.as_ref())?;
        hard_link(above, name.as_ref(), new_above, new_name.as_ref())
    }

    fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        own::write_at(file, bytes, offset)
    }

    /// In two steps: of two guests that append at once, one may write over the other.
    fn append(file: &File, bytes: &[u8]) -> io::Result<usize> {
        own::write_at(file, bytes, file.metadata()?.len())
    }

    fn list(directory: &File) -> io::Result<ReadDir> {
        read_base_dir(directory)
    }

    fn next_entry(listing: &mut ReadDir) -> Option<Result<DirectoryEntry, ErrorCode>> {
        loop {
            let described = listing.next()?.and_then(|entry| Ok((entry.file_type()?, entry.file_name())));
            let (kind, name) = match described {
                Ok(described) => described,
                // It has just been removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Some(Err(error.into())),
            };
            let type_ = if kind.is_file() {
                DescriptorType::RegularFile
            } else if kind.is_dir() {
                DescriptorType::Directory
            } else if kind.is_symlink() {
                DescriptorType::SymbolicLink
            } else {
                DescriptorType::Unknown
            };
            let name = name.into_string().map_err(|_| ErrorCode::IllegalByteSequence);
            return Some(name.map(|name| DirectoryEntry { type_, name }));
        }
    }
}

fn facts(about: &Metadata) -> FileFacts {
    FileFacts {
        number: FileNumber { device: about.dev(), inode: about.ino() },
        kind: if about.is_file() {
            EntryKind::File
        } else if about.is_dir() {
            EntryKind::Directory
        } else {
            EntryKind::Other
        },
        size: about.len(),
        taken: own::taken(about),
        names: about.nlink(),
        mode: own::mode(about),
    }
}

#[cfg(unix)]
mod own {
    //! What only Unix has.

    use std::{fs::File, io, os::unix::fs::FileExt as _, path::Path};

    use cap_fs_ext::OpenOptionsSyncExt as _;
    use cap_primitives::fs::{Metadata, MetadataExt as _, OpenOptions};
    use rustix::io::Errno;

    pub(super) use cap_primitives::fs::symlink;

    /// Every path leads to what is counted.
    pub(super) fn check(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Without waiting for the other end of a FIFO; a file does not mind.
    pub(super) fn wait_for_nobody(options: &mut OpenOptions) {
        options.nonblock(true);
    }

    pub(super) fn open_error(error: io::Error) -> io::Error {
        // A FIFO that nobody reads.
        if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) { Errno::PERM.into() } else { error }
    }

    pub(super) fn no_directory() -> io::Error {
        Errno::NOTDIR.into()
    }

    pub(super) fn taken(about: &Metadata) -> u64 {
        about.blocks().saturating_mul(512)
    }

    pub(super) fn mode(about: &Metadata) -> u32 {
        about.mode()
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }
}

#[cfg(windows)]
mod own {
    //! What only Windows has.

    use std::{fs::File, io, os::windows::fs::FileExt as _, path::Path};

    use cap_primitives::fs::{FollowSymlinks, Metadata, OpenOptions, stat, symlink_dir, symlink_file};

    /// `ERROR_DIRECTORY`: "The directory name is invalid."
    const DIRECTORY: i32 = 267;

    /// Refuses a colon: it names a further stream of a file, which no measurement counts.
    pub(super) fn check(path: &Path) -> io::Result<()> {
        if path.as_os_str().as_encoded_bytes().contains(&b':') {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "a name with a colon"));
        }
        Ok(())
    }

    /// Nothing is to be done: no file waits for another program.
    pub(super) fn wait_for_nobody(_: &mut OpenOptions) {}

    pub(super) fn open_error(error: io::Error) -> io::Error {
        error
    }

    pub(super) fn no_directory() -> io::Error {
        io::Error::from_raw_os_error(DIRECTORY)
    }

    /// The length: what a file takes on disk is not asked for.
    pub(super) fn taken(about: &Metadata) -> u64 {
        about.len()
    }

    pub(super) fn mode(_: &Metadata) -> u32 {
        0
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.seek_write(bytes, offset)
    }

    /// A link says what it leads to: a directory that is there, or a file.
    pub(super) fn symlink(target: &Path, above: &File, name: &Path) -> io::Result<()> {
        check(target)?;
        if stat(above, target, FollowSymlinks::Yes).is_ok_and(|about| about.is_dir()) {
            symlink_dir(target, above, name)
        } else {
            symlink_file(target, above, name)
        }
    }
}
