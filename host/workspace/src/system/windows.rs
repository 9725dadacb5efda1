//! Windows, where nothing here has an owner or a mode, and an open file keeps the directories
//! above it from moving.

use std::{fs::File, io, path::Path};

use cap_fs_ext::MetadataExt as _;
use cap_primitives::fs::Metadata;

/// What tells a file or directory from every other one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    volume: u64,
    index: u64,
}

impl FileIdentity {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let about = Metadata::from_file(file)?;
        Ok(Self { volume: about.dev(), index: about.ino() })
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
