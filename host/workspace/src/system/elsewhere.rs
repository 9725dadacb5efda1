//! Systems other than Linux, which have no workspaces: nothing opens, measures or removes
//! files there without following a link that a guest has put on the way.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
};

use crate::{DiskUsage, WorkspaceError};

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, WorkspaceError::Unsupported.to_string()))
}

/// Refuses.
pub(crate) fn check() -> Result<(), WorkspaceError> {
    Err(WorkspaceError::Unsupported)
}

/// What tells a file or directory from every other one that exists; it is not asked for
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(());

impl FileIdentity {
    /// Refuses.
    pub(crate) fn of(_: &Metadata) -> io::Result<Self> {
        unsupported()
    }
}

/// Nobody here chooses the users of children.
pub(crate) fn is_root() -> bool {
    false
}

/// Refuses.
pub(crate) fn let_users_through(_: &Path) -> io::Result<()> {
    unsupported()
}

/// Refuses.
pub(crate) fn give_to(_: &Path, _: u32) -> io::Result<()> {
    unsupported()
}

/// Refuses.
pub(crate) fn measure(_: &Path, _: u64) -> io::Result<DiskUsage> {
    unsupported()
}

/// Refuses.
pub(crate) fn measure_below(_: &File, _: u64) -> io::Result<DiskUsage> {
    unsupported()
}

/// Refuses.
pub(crate) fn remove_tree(_: &Path) -> io::Result<()> {
    unsupported()
}
