//! Unix, where directories have owners and modes.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
};

use cap_primitives::fs::{FollowSymlinks, Metadata, MetadataExt as _, stat};

/// The mode of a directory that only its owner may enter.
const PRIVATE: u32 = 0o700;

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

/// Whether a path still leads to an open file, and not by a link.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(FileIdentity::of(file)? == FileIdentity::from(&fs::symlink_metadata(path)?))
}

/// Has a directory right below an open one let its owner in. Nothing changes for root, who
/// needs no mode.
pub(crate) fn open_to_owner(parent: &File, name: &Path) -> io::Result<()> {
    let about = stat(parent, name, FollowSymlinks::No)?;
    if !about.is_dir() || about.mode() & PRIVATE == PRIVATE || is_root() {
        return Ok(());
    }
    let_owner_in(parent, name)
}

/// Should a link take the name meanwhile, it leads nowhere outside of the open directory.
#[cfg(target_os = "linux")]
fn let_owner_in(parent: &File, name: &Path) -> io::Result<()> {
    use cap_primitives::fs::{Permissions, set_permissions};

    set_permissions(parent, name, Permissions::from_std(fs::Permissions::from_mode(PRIVATE)))
}

/// Should a link take the name meanwhile, its own mode is changed, which means nothing.
#[cfg(not(target_os = "linux"))]
fn let_owner_in(parent: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, Mode, chmodat};

    Ok(chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// What a file takes on disk, whatever its length.
pub(crate) fn bytes_on_disk(about: &Metadata) -> u64 {
    about.blocks().saturating_mul(512)
}
