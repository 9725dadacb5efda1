//! Encryption at rest: keys, and files that are encrypted.
//!
//! A *master key* comes from the operator and is never stored. It wraps the *data keys* of a data directory, which
//! stand in its [keyring](KEYRING). Each file has a key of its own, derived from a data key and from a random salt at the
//! file's beginning, so that no nonce serves twice under one key.
//!
//! Content is encrypted and authenticated by AES-256-GCM. A block that was changed, moved or taken from another file is
//! refused. An older version of a whole file, or of the keyring, is not noticed: that takes a memory that nobody else
//! writes.
//!
//! Knows neither what a file is for nor who asks; it reads no configuration.

mod at_rest;
mod blocks;
mod cipher;
mod header;
mod keyring;
mod master_key;
mod stored_file;
mod whole;

pub use at_rest::{AtRest, Reencrypted};
pub use keyring::{DataKeys, KEYRING, KeyringError};
pub use master_key::{InvalidMasterKey, MasterKey, SHORTEST_MASTER_KEY};
pub use stored_file::StoredFile;
