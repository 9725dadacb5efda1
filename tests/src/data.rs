//! Fresh data directories.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use crate::artifacts::target;

/// A data directory of one test, removed when dropped.
#[derive(Debug, Clone)]
pub struct Data {
    directory: Arc<TempDir>,
}

impl Default for Data {
    fn default() -> Self {
        Self::new()
    }
}

impl Data {
    /// A directory that shares its compiled code with the other tests:
    /// compiling the same guests for each would take most of the time.
    ///
    /// # Panics
    /// Where the system gives no directory.
    #[must_use]
    pub fn new() -> Self {
        let data = Self::alone();
        let shared = target().join("tmp/wharf-tests/cache");
        std::fs::create_dir_all(&shared).expect("the target directory can be written");
        #[cfg(unix)]
        std::os::unix::fs::symlink(shared, data.path().join("cache")).expect("a link can be made");
        data
    }

    /// A directory that shares nothing.
    ///
    /// # Panics
    /// Where the system gives no directory.
    #[must_use]
    pub fn alone() -> Self {
        Self { directory: Arc::new(tempfile::tempdir().expect("a temporary directory")) }
    }

    /// The same below this directory.
    ///
    /// # Panics
    /// Where it gives no room.
    #[must_use]
    pub fn below(parent: &Path) -> Self {
        Self { directory: Arc::new(tempfile::tempdir_in(parent).expect("a temporary directory")) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// How many sessions have a workspace. The directory of workspaces may be there without
    /// one: the host tries in it what contains processes, and removes what it made for that.
    #[must_use]
    pub fn workspaces(&self) -> usize {
        let entries = std::fs::read_dir(self.path().join("workspaces"));
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| !name.to_string_lossy().starts_with('.')).count()
    }

    /// Writes a file into it.
    ///
    /// # Panics
    /// Where that fails.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("a temporary file can be written");
        path
    }

    /// Writes a file into it that nobody else may read.
    ///
    /// # Panics
    /// Where that fails.
    #[cfg(unix)]
    pub fn write_private(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        wharf_test_support::write_private(self.path(), name, content)
    }

    /// The kept code of components.
    ///
    /// # Panics
    /// Where there is no cache.
    #[must_use]
    pub fn code(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("cache")).expect("there is a cache");
        let paths = entries.map(|entry| entry.expect("an entry can be read").path());
        let mut code: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "code")).collect();
        code.sort();
        code
    }
}
