//! A directory of one host below one that hosts share, so that a later host finds what it left.
//!
//! ```text
//! ROOT/lock       held while a host looks for what others left
//! ROOT/HOST/lock  held while that host lives
//! ```

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::private_files;

/// The name of the lock in such a directory.
pub const LOCK: &str = "lock";

/// The directory of one host, locked as long as this lives.
#[derive(Debug)]
pub struct HostDirectory {
    path: PathBuf,
    _lock: File,
}

impl HostDirectory {
    /// Makes the directory `name` below `root`. Calls `adopt` with each directory that an ended
    /// host left there, and with the new one.
    ///
    /// # Errors
    /// Where the system refuses, and those of `adopt`.
    pub fn open(root: &Path, name: &str, mut adopt: impl FnMut(&Path, &Path) -> io::Result<()>) -> io::Result<Self> {
        private_files::make_directory(root)?;
        // Hosts that start at once do this one after the other: none takes the
        // directory of another for abandoned before it is locked.
        let turn = private_files::open_lock(&root.join(LOCK))?;
        turn.lock()?;
        let path = root.join(name);
        private_files::make_directory(&path)?;
        let lock = private_files::open_lock(&path.join(LOCK))?;
        lock.lock()?;
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            let other = entry.path();
            if other == path || !entry.file_type()?.is_dir() {
                continue;
            }
            match private_files::open_lock(&other.join(LOCK))?.try_lock() {
                Ok(()) => adopt(&other, &path)?,
                // It lives.
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
