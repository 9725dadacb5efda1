//! Linux, which has all that workspaces need.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
};

use crate::WorkspaceError;
pub(crate) use crate::{
    measure::{measure, measure_below},
    removal::remove_tree,
};

/// Whether this system has workspaces.
pub(crate) fn check() -> Result<(), WorkspaceError> {
    Ok(())
}

/// What tells a file or directory from every other one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(metadata: &Metadata) -> io::Result<Self> {
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
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
