//! The data keys of a data directory, wrapped by the operator's master key.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, Utc};
use ring::rand::SystemRandom;
use serde::{Deserialize, Serialize};
use wharf_files::{private_files, regular_file};
use zeroize::Zeroizing;

use crate::{
    cipher::{Cipher, KEY_BYTES, random},
    master_key::MasterKey,
};

/// The file of the keyring, below the data directory. Without it nothing that is encrypted there can be read.
pub const KEYRING: &str = "encryption.json";
const FORMAT: u32 = 1;
/// A longer one was not written here.
const MAX_BYTES: u64 = 1 << 20;
/// What the key of the database of the state is derived for, from a data key.
const STATE_KEY: &str = "wharf 2026-11-29 key of state.sqlite3";

/// The data keys of one data directory, the current one first.
pub struct DataKeys {
    current: DataKey,
    older: Vec<DataKey>,
}

/// One key, by the name that files say they need.
#[derive(Clone)]
pub(crate) struct DataKey {
    name: KeyName,
    made: DateTime<Utc>,
    key: Zeroizing<[u8; KEY_BYTES]>,
}

/// The random name of a data key, as files have it.
pub(crate) type KeyName = [u8; 8];

/// The keyring as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredKeyring {
    format: u32,
    /// The name of the master key.
    master: String,
    keys: Vec<StoredKey>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredKey {
    name: String,
    made: DateTime<Utc>,
    /// The key, encrypted under the master key.
    wrapped: String,
}

/// A keyring that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// The file cannot be read or written.
    #[error("cannot use {}", path.display())]
    Storage {
        /// The keyring.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// None of the operator's keys is the one that wraps the data keys.
    #[error(
        "{} needs the master key {needed}, and the configuration has {}: bring that key back, or restore a backup",
        path.display(), given.join(" and ")
    )]
    OtherKey {
        /// The keyring.
        path: PathBuf,
        /// The name of the key that it needs.
        needed: String,
        /// The names of the keys that there are.
        given: Vec<String>,
    },
    /// It was changed, or a later version wrote it.
    #[error("{} is no keyring of this version ({problem})", path.display())]
    Foreign {
        /// The keyring.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl DataKeys {
    /// The keys of the keyring of a directory, which one of these master keys opens. None where the directory has no
    /// keyring.
    ///
    /// # Errors
    /// Where there is one that cannot be used.
    pub fn open(directory: &Path, masters: &[MasterKey]) -> Result<Option<Self>, KeyringError> {
        let path = directory.join(KEYRING);
        let storage = |source| KeyringError::Storage { path: path.clone(), source };
        let foreign = |problem: String| KeyringError::Foreign { path: path.clone(), problem };
        let bytes = match regular_file::open_itself(&path).and_then(|file| regular_file::read_all(file, MAX_BYTES)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(storage)?,
        };
        let stored: StoredKeyring = serde_json::from_slice(&bytes).map_err(|error| foreign(error.to_string()))?;
        if stored.format != FORMAT {
            return Err(foreign(format!("its format is {}", stored.format)));
        }
        let Some(master) = masters.iter().find(|master| master.name() == stored.master) else {
            let given = masters.iter().map(|master| master.name().to_owned()).collect();
            return Err(KeyringError::OtherKey { path, needed: stored.master, given });
        };
        let cipher = Cipher::new(master.bytes()).map_err(storage)?;
        let keys = stored.keys.iter().map(|key| key.unwrap(&cipher)).collect::<Option<Vec<_>>>();
        let mut keys = keys.unwrap_or_default().into_iter();
        let current = keys.next().ok_or_else(|| foreign("its keys do not decrypt".to_owned()))?;
        Ok(Some(Self { current, older: keys.collect() }))
    }

    /// The same, and makes a keyring where there is none. Of hosts that start at once, all get the same.
    ///
    /// # Errors
    /// As [`DataKeys::open`].
    pub fn open_or_make(directory: &Path, masters: &[MasterKey]) -> Result<Self, KeyringError> {
        let path = directory.join(KEYRING);
        let storage = |source| KeyringError::Storage { path: path.clone(), source };
        if let Some(keys) = Self::open(directory, masters)? {
            return Ok(keys);
        }
        let Some(master) = masters.first() else { return Err(storage(io::ErrorKind::InvalidInput.into())) };
        let made = Self::make().map_err(storage)?;
        private_files::make_directory(directory).map_err(storage)?;
        let new = made.write_aside(directory, master).map_err(storage)?;
        match new.persist_noclobber(&path) {
            Ok(_) => private_files::synchronise_names(directory).map_err(storage).map(|()| made),
            // Another host was first.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Self::open(directory, masters)?.ok_or_else(|| storage(io::ErrorKind::NotFound.into()))
            }
            Err(error) => Err(storage(error.error)),
        }
    }

    /// The same keys behind a new one, which is the current one from now on.
    ///
    /// # Errors
    /// Where the system has no random bytes.
    pub fn with_new_key(self) -> io::Result<Self> {
        let Self { current, mut older } = self;
        older.insert(0, current);
        Ok(Self { current: DataKey::make()?, older })
    }

    /// One new key.
    ///
    /// # Errors
    /// Where the system has no random bytes.
    pub fn make() -> io::Result<Self> {
        Ok(Self { current: DataKey::make()?, older: Vec::new() })
    }

    /// Writes the keyring of a directory, wrapped by this master key. The keyring is on disk once this returns.
    ///
    /// # Errors
    /// Where the system refuses; the keyring is as it was then.
    pub fn save(&self, directory: &Path, master: &MasterKey) -> Result<(), KeyringError> {
        let path = directory.join(KEYRING);
        let write = || -> io::Result<()> {
            self.write_aside(directory, master)?.persist(&path).map_err(|error| error.error)?;
            private_files::synchronise_names(directory)
        };
        write().map_err(|source| KeyringError::Storage { path: path.clone(), source })
    }

    /// Removes the keyring of a directory: nothing there is encrypted any more.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn remove(directory: &Path) -> Result<(), KeyringError> {
        let path = directory.join(KEYRING);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(KeyringError::Storage { path, source: error }),
            _ => Ok(()),
        }
    }

    /// Keys of the database of the state, in the order of the data keys: 32 bytes each.
    #[must_use]
    pub fn state_keys(&self) -> Vec<Zeroizing<[u8; KEY_BYTES]>> {
        self.all().map(|key| Zeroizing::new(blake3::derive_key(STATE_KEY, &*key.key))).collect()
    }

    /// The current key alone, once no file needs another any more.
    #[must_use]
    pub fn current_alone(&self) -> Self {
        Self { current: self.current.clone(), older: Vec::new() }
    }

    pub(crate) fn current(&self) -> &DataKey {
        &self.current
    }

    fn all(&self) -> impl Iterator<Item = &DataKey> {
        std::iter::once(&self.current).chain(&self.older)
    }

    /// A keyring that is on disk and has no name yet.
    fn write_aside(&self, directory: &Path, master: &MasterKey) -> io::Result<tempfile::NamedTempFile> {
        let cipher = Cipher::new(master.bytes())?;
        let keys = self.all().map(|key| key.wrap(&cipher)).collect::<io::Result<_>>()?;
        let stored = StoredKeyring { format: FORMAT, master: master.name().to_owned(), keys };
        let new = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(new.as_file(), &stored)?;
        new.as_file().sync_all()?;
        Ok(new)
    }

    pub(crate) fn named(&self, name: KeyName) -> Option<&DataKey> {
        self.all().find(|key| key.name == name)
    }
}

impl fmt::Debug for DataKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DataKeys").field("older", &self.older.len()).finish_non_exhaustive()
    }
}

impl DataKey {
    fn make() -> io::Result<Self> {
        let random_bytes = SystemRandom::new();
        Ok(Self { name: random(&random_bytes)?, made: Utc::now(), key: Zeroizing::new(random(&random_bytes)?) })
    }

    pub(crate) fn name(&self) -> KeyName {
        self.name
    }

    /// What encrypts the file with this salt.
    pub(crate) fn cipher_of(&self, salt: &[u8]) -> io::Result<Cipher> {
        let key = Zeroizing::new(*blake3::keyed_hash(&self.key, salt).as_bytes());
        Cipher::new(&key)
    }

    fn wrap(&self, cipher: &Cipher) -> io::Result<StoredKey> {
        let mut wrapped = Vec::new();
        cipher.encrypt(&self.name, &*self.key, &mut wrapped)?;
        Ok(StoredKey { name: STANDARD.encode(self.name), made: self.made, wrapped: STANDARD.encode(wrapped) })
    }
}

impl StoredKey {
    fn unwrap(&self, cipher: &Cipher) -> Option<DataKey> {
        let name: KeyName = STANDARD.decode(&self.name).ok()?.try_into().ok()?;
        let mut wrapped = Zeroizing::new(STANDARD.decode(&self.wrapped).ok()?);
        let key: &[u8] = cipher.decrypt(&name, &mut wrapped).ok()?;
        Some(DataKey { name, made: self.made, key: Zeroizing::new(key.try_into().ok()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn master(letter: char) -> MasterKey {
        MasterKey::new(&letter.to_string().repeat(64)).expect("long enough")
    }

    fn names(keys: &DataKeys) -> Vec<KeyName> {
        keys.all().map(DataKey::name).collect()
    }

    #[test]
    fn a_keyring_is_made_once_and_opened_by_its_master_key_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = directory.path().join("data");
        assert!(DataKeys::open(&at, &[master('a')]).expect("nothing there").is_none());
        let made = DataKeys::open_or_make(&at, &[master('a')]).expect("made");
        let opened = DataKeys::open_or_make(&at, &[master('b'), master('a')]).expect("opened");
        assert_eq!(names(&made), names(&opened));
        assert_eq!(made.state_keys(), opened.state_keys());
        let error = DataKeys::open(&at, &[master('b')]).expect_err("another key");
        let (needed, given) = (master('a').name().to_owned(), master('b').name().to_owned());
        assert!(
            error.to_string().contains(&format!("needs the master key {needed}, and the configuration has {given}"))
        );
        let text = fs::read_to_string(at.join(KEYRING)).expect("text");
        assert!(!text.contains(&"a".repeat(64)));
    }

    #[test]
    fn keys_are_wrapped_anew_and_old_ones_go_once_they_are_not_needed() {
        let directory = tempfile::tempdir().expect("a directory");
        let first = DataKeys::open_or_make(directory.path(), &[master('a')]).expect("made");
        let old = names(&first);
        let both = first.with_new_key().expect("random bytes");
        both.save(directory.path(), &master('b')).expect("saved");
        let opened = DataKeys::open(directory.path(), &[master('b')]).expect("opened").expect("there");
        assert_eq!((names(&opened).len(), names(&opened)[1]), (2, old[0]));
        both.current_alone().save(directory.path(), &master('b')).expect("saved");
        let opened = DataKeys::open(directory.path(), &[master('b')]).expect("opened").expect("there");
        assert_eq!(names(&opened), names(&both)[..1]);
        assert!(DataKeys::open(directory.path(), &[master('a')]).is_err());
        DataKeys::remove(directory.path()).expect("removed");
        assert!(DataKeys::open(directory.path(), &[]).expect("nothing there").is_none());
    }

    #[test]
    fn a_keyring_that_somebody_changed_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(KEYRING);
        DataKeys::open_or_make(directory.path(), &[master('a')]).expect("made");
        let text = fs::read_to_string(&path).expect("text");
        let wrapped = text.split("\"wrapped\": \"").nth(1).expect("a key")[..8].to_owned();
        let name = text.split("\"name\": \"").nth(1).expect("a name")[..4].to_owned();
        for changed in [
            text.replace(&wrapped, "AAAAAAAA"),
            text.replace(&name, "AAAA"),
            text.replace("\"format\": 1", "\"format\": 2"),
            text[..text.len() / 2].to_owned(),
            String::new(),
        ] {
            fs::write(&path, &changed).expect("written");
            let error = DataKeys::open(directory.path(), &[master('a')]).expect_err(&changed);
            assert!(matches!(error, KeyringError::Foreign { .. }), "{error}");
        }
    }
}
