//! The modes of directories and the blocks of files, which only Unix has.

#[cfg(unix)]
pub(super) use unix::{bytes_on_disk, open_to_owner};
#[cfg(not(unix))]
pub(super) use without::{bytes_on_disk, open_to_owner};

#[cfg(unix)]
mod unix {
    use std::{fs::File, io, path::Path};

    use cap_primitives::fs::{FollowSymlinks, Metadata, MetadataExt as _, stat};

    use crate::system::is_root;

    /// The mode of a directory that only its owner may enter.
    const PRIVATE: u32 = 0o700;

    /// Has a directory right below an open one let its owner in. Nothing changes for root, who
    /// needs no mode.
    pub(in super::super) fn open_to_owner(parent: &File, name: &Path) -> io::Result<()> {
        let about = stat(parent, name, FollowSymlinks::No)?;
        if !about.is_dir() || about.mode() & PRIVATE == PRIVATE || is_root() {
            return Ok(());
        }
        let_owner_in(parent, name)
    }

    /// Should a link take the name meanwhile, it leads nowhere outside of the open directory.
    #[cfg(target_os = "linux")]
    fn let_owner_in(parent: &File, name: &Path) -> io::Result<()> {
        use std::{fs, os::unix::fs::PermissionsExt as _};

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
    pub(in super::super) fn bytes_on_disk(about: &Metadata) -> u64 {
        about.blocks().saturating_mul(512)
    }
}

#[cfg(not(unix))]
mod without {
    use std::{fs::File, io, path::Path};

    use cap_primitives::fs::Metadata;

    /// Nothing is to be done: no mode closes a directory.
    pub(in super::super) fn open_to_owner(_: &File, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// The length of a file: what it takes on disk is not asked for.
    pub(in super::super) fn bytes_on_disk(about: &Metadata) -> u64 {
        about.len()
    }
}
