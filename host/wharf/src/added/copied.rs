//! What is installed, in a directory of its own: for a backup, while commands change it.

use std::{fs, io, path::Path};

use wharf_files::private_files;

use super::{AddedError, AddedPlugins, COMPONENTS, LOCK, RECEIPTS, SET};
use crate::denied::COPY;

/// What was copied.
#[derive(Debug, Default)]
pub(crate) struct CopiedPlugins {
    /// Whether this is a copy of what the database of a cluster has.
    pub(crate) is_of_cluster: bool,
    /// Names of files that the set names and that are not there.
    pub(crate) missing: Vec<String>,
}

impl AddedPlugins {
    /// Copies the set with what it names, and the list of what must not run, to the new
    /// directory `to`. No command changes it meanwhile, and none waits for long: on one file system
    /// a copy is another name, since files are replaced and never changed. Nothing where no
    /// plugin was ever added.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub(crate) fn copy_to(&self, to: &Path) -> Result<Option<CopiedPlugins>, AddedError> {
        if !self.directory.is_dir() {
            return Ok(None);
        }
        // Root, who may make the backup of another user's hosts, makes no lock that is root's.
        let _lock = self.directory.join(LOCK).exists().then(|| self.lock()).transpose()?;
        let set = self.set()?;
        for directory in [to, &to.join(COMPONENTS), &to.join(RECEIPTS)] {
            private_files::make_new_directory(directory).map_err(AddedError::file(directory))?;
        }
        let mut copied = CopiedPlugins { is_of_cluster: set.copy_of.is_some(), missing: Vec::new() };
        for name in [SET, COPY] {
            copy(&self.directory.join(name), &to.join(name))?;
        }
        for (plugin, digest) in &set.plugins {
            for from in [self.component_path(digest), self.receipt_path(plugin, digest)] {
                let below = from.strip_prefix(&self.directory).unwrap_or(&from).to_owned();
                // Two plugins may have one component.
                let target = to.join(&below);
                if !target.exists() && !copy(&from, &target)? {
                    copied.missing.push(below.display().to_string());
                }
            }
        }
        Ok(Some(copied))
    }
}

/// Copies a file; whether it is there.
fn copy(from: &Path, to: &Path) -> Result<bool, AddedError> {
    match fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        copied => copied.map(|()| true).map_err(AddedError::file(from)),
    }
}
