//! Becomes the user of a host that root starts, who gets its files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use nix::unistd::{Gid, Uid, User, initgroups, setgroups, setresgid, setresuid};
use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chownat, fchown, fstat, openat, statat},
    process::{DumpableBehavior, set_dumpable_behavior},
    thread::set_keep_capabilities,
};

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemUser {
    name: Option<String>,
    user: u32,
    group: u32,
}

/// Why a host does not become a user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserError {
    /// The system knows no such user.
    #[error("this system has no user `{0}`")]
    Unknown(String),
    /// The system refused a step.
    #[error("cannot {step}{}", at(path.as_deref()))]
    Step {
        /// The step, for people.
        step: &'static str,
        /// The file that it is about.
        path: Option<PathBuf>,
        /// Why not.
        source: io::Error,
    },
}

fn at(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!(" {}", path.display()))
}

impl SystemUser {
    /// The user of this name.
    ///
    /// # Errors
    /// Where there is none, or the system cannot say.
    pub fn named(name: &str) -> Result<Self, UserError> {
        let step = |error: nix::Error| UserError::Step { step: "look up the user", path: None, source: error.into() };
        let found = User::from_name(name).map_err(step)?.ok_or_else(|| UserError::Unknown(name.to_owned()))?;
        Ok(Self { name: Some(found.name), user: found.uid.as_raw(), group: found.gid.as_raw() })
    }

    /// The user of this number, with the group of the same number where the system knows no other.
    #[must_use]
    pub fn numbered(user: u32) -> Self {
        let found = User::from_uid(Uid::from_raw(user)).ok().flatten();
        match found {
            Some(found) => Self { name: Some(found.name), user, group: found.gid.as_raw() },
            None => Self { name: None, user, group: user },
        }
    }

    /// Whether a directory is this user's.
    #[must_use]
    pub fn owns(&self, directory: &Path) -> bool {
        let owner = |about: fs::Metadata| std::os::unix::fs::MetadataExt::uid(&about);
        fs::metadata(directory).map(owner).is_ok_and(|owner| owner == self.user)
    }

    /// Gives this user a directory with all that is in it. A file of root that has other names as well stays root's:
    /// they may be anywhere.
    ///
    /// # Errors
    /// Where the system refuses; a part is moved then, and the next call moves the rest.
    pub fn take_over(&self, directory: &Path) -> Result<(), UserError> {
        let failed = |source: io::Error| UserError::Step {
            step: "give the user of the host",
            path: Some(directory.to_owned()),
            source,
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(CWD, directory, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        self.take(&open).map_err(failed)?;
        // Last, so that one which was not moved as a whole is moved again.
        fchown(&open, Some(self.uid()), Some(self.gid())).map_err(|error| failed(error.into()))
    }

    /// Takes what is in a directory.
    fn take(&self, directory: impl std::os::fd::AsFd) -> io::Result<()> {
        let directory = directory.as_fd();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let about = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let below = openat(directory, name, flags, Mode::empty())?;
                // A file system that is mounted there is somebody else's.
                if fstat(&below)?.st_dev == fstat(directory)?.st_dev {
                    self.take(&below)?;
                    fchown(&below, Some(self.uid()), Some(self.gid()))?;
                }
            } else if about.st_uid != self.user && (about.st_nlink == 1 || about.st_uid != 0) {
                chownat(directory, name, Some(self.uid()), Some(self.gid()), AtFlags::SYMLINK_NOFOLLOW)?;
            }
        }
        Ok(())
    }

    fn uid(&self) -> rustix::process::Uid {
        rustix::process::Uid::from_raw(self.user)
    }

    fn gid(&self) -> rustix::process::Gid {
        rustix::process::Gid::from_raw(self.group)
    }

    /// Has this process become the user, for good. It keeps its capabilities, without using them, where it is about
    /// to [confine itself](super::confine_host), which leaves it what it needs.
    ///
    /// # Errors
    /// Where the system refuses; the process must not go on then.
    pub fn become_it(&self, keep_capabilities: bool) -> Result<(), UserError> {
        let step = |step: &'static str| move |source: io::Error| UserError::Step { step, path: None, source };
        let (uid, gid) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
        let groups = match self.name.as_deref().map(std::ffi::CString::new) {
            Some(Ok(name)) => initgroups(&name, gid),
            _ => setgroups(&[]),
        };
        groups.map_err(|error| step("take the groups of the user")(error.into()))?;
        setresgid(gid, gid, gid).map_err(|error| step("take the group of the user")(error.into()))?;
        set_keep_capabilities(keep_capabilities)
            .map_err(|error| step("keep capabilities until the host is confined")(error.into()))?;
        setresuid(uid, uid, uid).map_err(|error| step("become the user")(error.into()))?;
        // As if the user had started it.
        set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|error| step("be the user's own")(error.into()))
    }
}
