//! Encryption at rest: the keys of a data directory, and what is stored under them.
//!
//! With `[encryption]`, a host encrypts the database of its state, the output and the records of processes, what is kept
//! of lost terminals, and recordings. The files of sessions are not encrypted, since programs read them; nor are
//! components and their compiled code, the audit, profiles of browsers, and the tokens of the host itself: see [`NOT_ENCRYPTED`].

mod rekey;
#[cfg(all(test, feature = "encryption"))]
mod tests;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use wharf_encryption::{AtRest, DataKeys, KEYRING, KeyringError, MasterKey};
use wharf_files::regular_file;
use wharf_state::{InventoryError, OpenError as StateOpenError, StateKey, StatePlace, StoredState};

use crate::{
    Configuration,
    configuration::{EncryptionSettings, SecretUnavailable},
};

pub use rekey::{RekeyReport, decrypt, rekey};

/// What is on disk in the clear, whatever `[encryption]` says.
pub const NOT_ENCRYPTED: &str =
    "the files of sessions, the audit, plugins and their code, tokens of the host, profiles of browsers that run";

/// Why content cannot be encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// A master key cannot be had.
    #[error(transparent)]
    Key(#[from] SecretUnavailable),
    /// The keyring cannot be used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The data directory is encrypted, and there is no key.
    #[error(
        "{} says that this data directory is encrypted; name its master key under [encryption.key], or choose another \
         data directory with --data",
        path.display()
    )]
    KeyNeeded {
        /// The keyring.
        path: PathBuf,
    },
    /// The state is encrypted, or no database, and the keyring is gone.
    #[error("{} is missing, and the state of this data directory is not in the clear; bring it back from a backup", path.display())]
    NoKeyring {
        /// The keyring.
        path: PathBuf,
    },
    /// The state is in the clear, and the configuration names a key.
    #[error(transparent)]
    InClear(StateOpenError),
    /// The configuration names no key.
    #[error("nothing is encrypted: the configuration names no master key under [encryption.key]")]
    NoKey,
    /// The hosts of the data directory would not get what somebody else writes.
    #[error("{} belongs to user {owner}; run this as that user, so that its hosts may use what is written", data.display())]
    Owner {
        /// The data directory.
        data: PathBuf,
        /// The number of the user.
        owner: u32,
    },
    /// Hosts serve on the data directory.
    #[error("{hosts} of the hosts of {} serve now; stop them first", data.display())]
    InUse {
        /// How many.
        hosts: usize,
        /// The data directory.
        data: PathBuf,
    },
    /// The state cannot be written anew.
    #[error("the state is as it was")]
    State(#[from] InventoryError),
    /// A file cannot be written anew, or read.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl EncryptionError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl From<EncryptionError> for StateOpenError {
    fn from(error: EncryptionError) -> Self {
        Self::Keys(Box::new(error))
    }
}

/// How the files of a data directory are stored, and its state.
#[derive(Debug, Clone)]
pub(crate) struct OpenedKeys {
    pub(crate) at_rest: AtRest,
    pub(crate) state: StatePlace,
}

impl OpenedKeys {
    fn of(data: &Path, keys: Option<DataKeys>) -> Self {
        let state = StatePlace::encrypted(data, keys.iter().flat_map(state_keys).collect());
        Self { at_rest: keys.map_or_else(AtRest::in_clear, AtRest::encrypted), state }
    }
}

/// The keys of a data directory that a host or a command is about to write to. Makes its keyring where the configuration
/// names a key and there is nothing yet that is in the clear.
pub(crate) fn open(configuration: &Configuration, data: &Path) -> Result<OpenedKeys, EncryptionError> {
    let found = look(configuration, data)?;
    match &configuration.encryption {
        Some(settings) if !found.at_rest.is_encrypted() => {
            Ok(OpenedKeys::of(data, Some(DataKeys::open_or_make(data, &masters(settings)?)?)))
        }
        _ => Ok(found),
    }
}

/// The same of one that is only read, or need not be there: makes nothing.
pub(crate) fn look(configuration: &Configuration, data: &Path) -> Result<OpenedKeys, EncryptionError> {
    let Some(settings) = &configuration.encryption else {
        let path = data.join(KEYRING);
        return if path.exists() { Err(EncryptionError::KeyNeeded { path }) } else { Ok(OpenedKeys::of(data, None)) };
    };
    let keys = DataKeys::open(data, &masters(settings)?)?;
    if keys.is_none() && stored_state(configuration, data)? == StoredState::InClear {
        let path = data.join(wharf_state::STATE_FILE);
        return Err(EncryptionError::InClear(StateOpenError::InClear { path }));
    }
    Ok(OpenedKeys::of(data, keys))
}

/// What state there is in a data directory that has no keyring.
///
/// # Errors
/// `NoKeyring` where it is encrypted: another keyring would not open it.
fn stored_state(configuration: &Configuration, data: &Path) -> Result<StoredState, EncryptionError> {
    if configuration.state.database_file.is_some() {
        return Ok(StoredState::Nothing);
    }
    match StatePlace::in_clear(data).stored() {
        StoredState::Other => Err(EncryptionError::NoKeyring { path: data.join(KEYRING) }),
        stored => Ok(stored),
    }
}

/// The master keys that the configuration names, the current one first.
fn masters(settings: &EncryptionSettings) -> Result<Vec<MasterKey>, SecretUnavailable> {
    [Some(&settings.key), settings.previous.as_ref()].into_iter().flatten().map(|key| key.read()).collect()
}

fn state_keys(keys: &DataKeys) -> Vec<StateKey> {
    keys.state_keys().into_iter().map(StateKey::new).collect()
}

/// Writes what an encrypted file of a data directory holds: a recording, or the output of a process. A part that was
/// evicted is left out. Returns how many bytes that are. Blocks.
///
/// # Errors
/// Where the file cannot be read, is not encrypted under the keys of this data directory, or was changed; where `out`
/// fails.
pub fn read_file(
    configuration: &Configuration,
    data: &Path,
    path: &Path,
    out: &mut dyn Write,
) -> Result<u64, EncryptionError> {
    let OpenedKeys { at_rest, .. } = look(configuration, data)?;
    if !at_rest.is_encrypted() {
        return Err(EncryptionError::NoKey);
    }
    let file = |error| EncryptionError::file(path)(error);
    let stored = at_rest.open(regular_file::open(path).map_err(file)?).map_err(file)?;
    let mut written = 0;
    let from = stored.first_kept().map_err(file)?;
    let mut write = |_, content: &[u8]| {
        written += content.len() as u64;
        out.write_all(content)
    };
    stored.read_on(from, &mut write).map_err(file)?;
    Ok(written)
}
