//! Plugins that were added by command: what is kept of them below `DATA/plugins`, so
//! that every host on the data directory has them, now and after a restart.
//!
//! Owns the files: components by digest, a receipt for each plugin, and the set of
//! what is installed, the one file that decides. What is kept is what was fetched,
//! never compiled code. Runs and grants nothing.

mod copied;
mod receipt;
mod set;
#[cfg(feature = "postgres")]
mod shared;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};
use wharf_core::{Digest, PluginName};
use wharf_engine::Component;
use wharf_files::{private_files, regular_file};
use wharf_sources::PluginSource;

use crate::{configuration::ComponentPlace, vetting::SourcedComponent};

pub use receipt::Receipt;
pub use set::InstalledChange;
pub(crate) use set::InstalledSet;
#[cfg(feature = "postgres")]
pub(crate) use shared::{LaterCopy, SharedSet};

/// Where they are, below the data directory.
const PLUGINS: &str = "plugins";
/// The set of what is installed.
const SET: &str = "installed.json";
/// Held while the set is read with what it names, or changed.
const LOCK: &str = "lock";
/// The components, by digest.
const COMPONENTS: &str = "components";
/// The receipts, by name and digest.
const RECEIPTS: &str = "receipts";
/// Plugins that may be added.
const MAX_PLUGINS: usize = 256;
/// Bytes of the set or of a receipt.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Why plugins are not kept, or not as was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddedError {
    /// A file cannot be read or written.
    #[error("cannot use {path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file says something else than this version writes.
    #[error("{path} is not what this version of wharf writes: {problem}; put it aside and add the plugins again")]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A plugin of this name was added already.
    #[error("a plugin {name} was added already; `wharf plugin update {name} SOURCE` replaces it")]
    Taken {
        /// The name.
        name: PluginName,
    },
    /// None of this name was added.
    #[error("no plugin {name} was added; `wharf plugin list` shows those that were")]
    Unknown {
        /// The name.
        name: PluginName,
    },
    /// As many as there may be.
    #[error("{MAX_PLUGINS} plugins were added, and no further one is; remove one with `wharf plugin remove NAME`")]
    TooMany,
    /// Plugins were added on a data directory before its host was one of a cluster.
    #[error(
        "{directory} has plugins that were added before this host was one of a cluster, whose hosts all have the same: \
         put it aside, start the host, and add them again"
    )]
    BeforeCluster {
        /// Where they are.
        directory: PathBuf,
    },
    /// The bytes of a component are not those that were added.
    #[error("{path} is not the component that was added; add the plugin again")]
    Changed {
        /// Its file.
        path: PathBuf,
    },
}

impl AddedError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// The plugins that were added on a data directory.
#[derive(Debug, Clone)]
pub struct AddedPlugins {
    directory: PathBuf,
}

impl AddedPlugins {
    /// Those of a data directory. Nothing is made before something is kept.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self { directory: data.join(PLUGINS) }
    }

    /// The names of those that were added, with the digest of each.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub fn list(&self) -> Result<BTreeMap<PluginName, Digest>, AddedError> {
        Ok(self.set()?.plugins)
    }

    /// The plugins of whatever origin that are switched off.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub fn disabled(&self) -> Result<BTreeSet<PluginName>, AddedError> {
        Ok(self.set()?.disabled)
    }

    /// The `[plugin.NAME]` tables that all hosts of a cluster have, as TOML, where this is a copy
    /// of what they have.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub fn tables(&self) -> Result<String, AddedError> {
        Ok(self.set()?.tables)
    }

    pub(crate) fn set(&self) -> Result<InstalledSet, AddedError> {
        let path = self.directory.join(SET);
        let set = read_json::<InstalledSet>(&path)?.unwrap_or_default();
        set.checked().map_err(|problem| AddedError::Unreadable { path, problem })
    }

    /// What was written down of a plugin when it was added; nothing where none of this
    /// name was.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub fn receipt(&self, name: &PluginName) -> Result<Option<Receipt>, AddedError> {
        match self.set()?.plugins.get(name) {
            Some(digest) => read_json(&self.receipt_path(name, digest)),
            None => Ok(None),
        }
    }

    /// A plugin's component with what vouches for it, whose bytes are at most one more than `limit`; nothing where
    /// none of this name was added.
    ///
    /// # Errors
    /// See [`AddedError`].
    pub fn component_of(&self, name: &PluginName, limit: u64) -> Result<Option<SourcedComponent>, AddedError> {
        let set = self.set()?;
        let sourced = set.plugins.get(name).map(|digest| self.sourced(name, digest, limit)).transpose()?;
        Ok(sourced.map(|sourced| sourced.with_functions(set.functions.contains(name))))
    }

    /// A component with where it was taken from, and the signatures that lay there.
    pub(crate) fn sourced(
        &self,
        name: &PluginName,
        digest: &Digest,
        limit: u64,
    ) -> Result<SourcedComponent, AddedError> {
        let component = Component::new(self.component(digest, limit)?);
        let receipt: Option<Receipt> = read_json(&self.receipt_path(name, digest))?;
        let source = receipt.as_ref().and_then(|receipt| receipt.source.parse::<PluginSource>().ok());
        let place = source.as_ref().map_or(ComponentPlace::File, ComponentPlace::from);
        let found = receipt.map(|receipt| receipt.signatures).unwrap_or_default();
        Ok(SourcedComponent { component, place: Some(place), found })
    }

    /// The bytes of a component, at most one more than `limit`.
    pub(crate) fn component(&self, digest: &Digest, limit: u64) -> Result<Vec<u8>, AddedError> {
        let path = self.component_path(digest);
        let bytes = regular_file::read(&path, limit).map_err(AddedError::file(&path))?;
        // A longer one is refused for its length.
        if bytes.len() as u64 <= limit && Digest::of(&bytes) != *digest {
            return Err(AddedError::Changed { path });
        }
        Ok(bytes)
    }

    /// Changes what is installed, and keeps the component and the receipt of what comes. Whether
    /// it is another set now.
    ///
    /// # Errors
    /// [`AddedError::Taken`] where one of the name was added, [`AddedError::Unknown`] where none
    /// was; see [`AddedError`].
    pub fn apply(&self, change: InstalledChange<'_>) -> Result<bool, AddedError> {
        self.change(|set| {
            let changed = set.apply(change)?;
            if let Some((receipt, component)) = change.kept() {
                self.write_component(&receipt.digest, component)?;
                self.write_receipt(receipt)?;
            }
            set.copy_of = None;
            Ok(changed)
        })
    }

    /// What lies there may have been damaged since, and is written anew then.
    fn write_component(&self, digest: &Digest, component: &[u8]) -> Result<(), AddedError> {
        let path = self.component_path(digest);
        match fs::read(&path).is_ok_and(|bytes| bytes == component) {
            true => Ok(()),
            false => write_whole(&path, component),
        }
    }

    #[cfg(feature = "postgres")]
    fn has_component(&self, digest: &Digest) -> bool {
        fs::read(self.component_path(digest)).is_ok_and(|bytes| Digest::of(&bytes) == *digest)
    }

    fn write_receipt(&self, receipt: &Receipt) -> Result<(), AddedError> {
        write_json(&self.receipt_path(&receipt.name, &receipt.digest), receipt)
    }

    /// Changes the set, alone among all commands; then removes what it names no more.
    fn change<T>(&self, change: impl FnOnce(&mut InstalledSet) -> Result<T, AddedError>) -> Result<T, AddedError> {
        let _lock = self.lock()?;
        let mut set = self.set()?;
        let before = set.clone();
        let changed = change(&mut set)?;
        if set != before {
            write_json(&self.directory.join(SET), &set)?;
        }
        self.sweep(&set);
        Ok(changed)
    }

    /// Makes the directories, and keeps all other commands out of them until the file is dropped.
    fn lock(&self) -> Result<File, AddedError> {
        for directory in [&self.directory, &self.directory.join(COMPONENTS), &self.directory.join(RECEIPTS)] {
            private_files::make_directory(directory).map_err(AddedError::file(directory))?;
        }
        let path = self.directory.join(LOCK);
        let lock = private_files::open_lock(&path).map_err(AddedError::file(&path))?;
        lock.lock().map_err(AddedError::file(&path))?;
        Ok(lock)
    }

    /// What cannot be removed is passed over: it takes place and does nothing.
    fn sweep(&self, set: &InstalledSet) {
        let components = set.plugins.values().map(|digest| self.component_path(digest));
        let receipts = set.plugins.iter().map(|(name, digest)| self.receipt_path(name, digest));
        let named: BTreeSet<PathBuf> = components.chain(receipts).collect();
        for directory in [COMPONENTS, RECEIPTS] {
            let entries = fs::read_dir(self.directory.join(directory)).into_iter().flatten();
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| !named.contains(path)) {
                if let Err(error) = fs::remove_file(&path) {
                    tracing::debug!("{} cannot be removed: {error}", path.display());
                }
            }
        }
    }

    fn component_path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(COMPONENTS).join(format!("{}.wasm", digest.to_hex()))
    }

    fn receipt_path(&self, name: &PluginName, digest: &Digest) -> PathBuf {
        self.directory.join(RECEIPTS).join(format!("{name}-{}.json", digest.to_hex()))
    }
}

/// Reads a file that may not be there.
fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, AddedError> {
    let bytes = match regular_file::read(path, MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(AddedError::file(path))?,
    };
    let unreadable =
        |error: serde_json::Error| AddedError::Unreadable { path: path.to_owned(), problem: error.to_string() };
    serde_json::from_slice(&bytes).map(Some).map_err(unreadable)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), AddedError> {
    let text = serde_json::to_vec_pretty(value).map_err(|error| AddedError::file(path)(error.into()))?;
    write_whole(path, &text)
}

/// Writes a file that appears whole or not at all, for nobody but its user.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), AddedError> {
    let write = || {
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The name is on disk, too, before anything refers to it.
        private_files::synchronise_names(directory)
    };
    write().map_err(AddedError::file(path))
}

#[cfg(test)]
pub(crate) mod tests;
