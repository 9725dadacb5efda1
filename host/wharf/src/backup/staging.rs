//! Directories in which work is done that appears as a whole: private, locked as long as their
//! process lives, and gone when it is done. What a killed process left is removed by the next.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use wharf_files::private_files;

const LOCK: &str = "lock";

/// Such a directory. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Staging {
    // Removed before the lock goes.
    directory: tempfile::TempDir,
    _lock: File,
}

impl Staging {
    /// Makes one below `parent`.
    pub(super) fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder.prefix(prefix).tempdir_in(parent)?;
        // Locked before it has the name by which others ask whether its process lives.
        let unnamed = directory.path().join("new");
        let lock = private_files::open_lock(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, directory.path().join(LOCK))?;
        Ok(Self { directory, _lock: lock })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Whether something in `parent` is such a directory.
    pub(super) fn is_one(name: &std::ffi::OsStr, prefix: &str) -> bool {
        name.to_string_lossy().starts_with(prefix)
    }

    /// Removes those below `parent` whose process was killed.
    pub(super) fn sweep(parent: &Path, prefix: &str) {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| Self::is_one(&entry.file_name(), prefix)) {
            let lock = File::options().read(true).write(true).open(entry.path().join(LOCK));
            let is_abandoned = lock.is_ok_and(|lock| lock.try_lock().is_ok());
            if is_abandoned && let Err(error) = fs::remove_dir_all(entry.path()) {
                tracing::warn!("{} cannot be removed: {error}", entry.path().display());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays() {
        let parent = tempfile::tempdir().expect("a directory");
        let living = Staging::make(parent.path(), ".x-").expect("made");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let mode = fs::metadata(living.directory.path()).expect("it").mode() & 0o777;
            assert_eq!(mode, 0o700, "nobody else sees what is not yet whole");
        }
        let killed = Staging::make(parent.path(), ".x-").expect("made");
        let left = killed.path("");
        fs::write(killed.path("file"), "half").expect("written");
        // A process that is killed removes nothing.
        let Staging { directory, _lock } = killed;
        drop(directory.keep());
        drop(_lock);
        Staging::sweep(parent.path(), ".x-");
        assert!(!left.exists() && living.path("").exists());
        drop(living);
        assert_eq!(fs::read_dir(parent.path()).expect("listed").count(), 0);
    }
}
