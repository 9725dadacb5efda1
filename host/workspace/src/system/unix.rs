//! Unix, where directories have owners and modes.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
};

/// What tells a file or directory from every other one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|about| Self::from(&about))
    }
}

impl From<&fs::Metadata> for FileIdentity {
    fn from(about: &fs::Metadata) -> Self {
        Self { device: about.dev(), inode: about.ino() }
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Lets all users reach what is theirs in a directory, and list nothing.
pub(crate) fn let_users_through(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o711))
}

/// Gives a directory to a user, and to the group of the same number.
pub(crate) fn give_to(path: &Path, user: u32) -> io::Result<()> {
    chown(path, Some(user), Some(user))
}

/// The owner of a directory, and of no link in its place.
pub(crate) fn owner_of(path: &Path) -> io::Result<u32> {
    fs::symlink_metadata(path).map(|about| about.uid())
}

/// Whether a path still leads to an open file, and not by a link.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(FileIdentity::of(file)? == FileIdentity::from(&fs::symlink_metadata(path)?))
}
