//! Windows, where nothing here has an owner or a mode, and an open file keeps the directories
//! above it from moving.

use std::{fs::File, io, path::Path};

/// What tells a file from every other one: nothing is asked for it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(());

impl FileIdentity {
    /// Refuses: only exchange folders ask, and no guest opens a file of one here.
    pub(crate) fn of(_: &File) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "exchange folders need Linux"))
    }
}

/// Children have no users of their own here.
pub(crate) fn is_root() -> bool {
    false
}

/// Nothing is to be done: children run as the host's own user.
pub(crate) fn let_users_through(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Refuses: no directory has a user of its own.
pub(crate) fn give_to(_: &Path, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses: no directory has a user of its own.
pub(crate) fn owner_of(_: &Path) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a path still leads to an open file: it does as long as that is open.
pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
