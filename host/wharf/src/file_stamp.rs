//! What tells a file from the one that it was before, as far as the system says.

use std::{
    fs::{self, Metadata},
    path::Path,
};

use wharf_sources::signature_files;

/// A file as it is now.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    pub(crate) is_file: bool,
}

#[cfg(unix)]
impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            is_file: metadata.is_file(),
        }
    }
}

/// A file as it is now. Windows numbers files only where they are open.
#[cfg(windows)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    size: u64,
    modified: u64,
    created: u64,
    pub(crate) is_file: bool,
}

#[cfg(windows)]
impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::windows::fs::MetadataExt as _;

        Self {
            size: metadata.file_size(),
            modified: metadata.last_write_time(),
            created: metadata.creation_time(),
            is_file: metadata.is_file(),
        }
    }
}

impl FileStamp {
    /// Of what has this name; none where nothing has.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|metadata| Self::of(&metadata))
    }
}

/// A file as it is now, and the signatures beside it: one that comes later counts as a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedFileStamp {
    pub(crate) file: FileStamp,
    signatures: [Option<FileStamp>; 3],
}

impl SignedFileStamp {
    pub(crate) fn of(path: &Path, metadata: &Metadata) -> Self {
        let signatures = signature_files(path).map(|path| FileStamp::at(&path));
        Self { file: FileStamp::of(metadata), signatures }
    }

    /// Of what has this name, links followed; none where nothing has.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(path, &metadata))
    }
}
