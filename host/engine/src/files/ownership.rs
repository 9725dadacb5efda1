//! Whose files are, and what others may do with them, which only Unix knows.

#[cfg(unix)]
pub(super) use unix::{give, set_mode};
#[cfg(not(unix))]
pub(super) use without::{give, set_mode};

#[cfg(unix)]
mod unix {
    use std::{
        fs::{File, Permissions},
        io,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    };

    /// Gives what a host that is root has made to the owner of the directory.
    pub(in super::super) fn give(made: &File, directory: &File) -> io::Result<()> {
        let (owner, own) = (directory.metadata()?, made.metadata()?);
        if (owner.uid(), owner.gid()) != (own.uid(), own.gid()) && own.uid() == 0 {
            fchown(made, Some(owner.uid()), Some(owner.gid()))?;
        }
        Ok(())
    }

    /// Gives a file these permissions, and no other mode.
    pub(in super::super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(mode & 0o777))
    }
}

#[cfg(not(unix))]
mod without {
    use std::{fs::File, io};

    /// Nothing is to be done: a file inherits its permissions.
    pub(in super::super) fn give(_: &File, _: &File) -> io::Result<()> {
        Ok(())
    }

    /// Nothing is to be done: no mode is kept.
    pub(in super::super) fn set_mode(_: &File, _: u32) -> io::Result<()> {
        Ok(())
    }
}
