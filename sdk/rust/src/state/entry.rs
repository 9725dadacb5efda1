//! What a bucket holds, what changes it, and what a scan of it answers.

use serde::Serialize;
use serde::de::DeserializeOwned;
pub use wharf_contract::state::Scope;

use crate::ToolError;

/// One stored entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// 1 to 512 bytes.
    pub key: String,
    /// At most 1 MiB.
    pub value: Vec<u8>,
    /// Changes with every write of this key, and is never 0.
    pub revision: u64,
}

impl Entry {
    /// The value, written as JSON.
    ///
    /// # Errors
    /// `internal` where it is something else.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_slice(&self.value).map_err(|error| {
            ToolError::internal(format!("the stored entry `{}` is not what this plugin writes: {error}", self.key))
        })
    }
}

/// One change of [`Bucket::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// 1 to 512 bytes.
    pub key: String,
    /// The new value; none deletes.
    pub value: Option<Vec<u8>>,
    /// The revision that the key must have: 0 where it must be absent, none
    /// where anything will do.
    pub if_revision: Option<u64>,
}

impl Change {
    /// Writes `value`, whatever is there.
    pub fn put(key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: Some(value.into()), if_revision: None }
    }

    /// Writes `value` as JSON, whatever is there.
    ///
    /// # Errors
    /// `internal` where it cannot be serialized.
    pub fn put_json<T: Serialize + ?Sized>(key: impl Into<String>, value: &T) -> Result<Self, ToolError> {
        Ok(Self::put(key, serde_json::to_vec(value)?))
    }

    /// Deletes the key, which need not exist.
    pub fn delete(key: impl Into<String>) -> Self {
        Self { key: key.into(), value: None, if_revision: None }
    }

    /// The same, only while the key has this revision; 0 means absent.
    #[must_use]
    pub fn if_revision(mut self, revision: u64) -> Self {
        self.if_revision = Some(revision);
        self
    }
}

/// A part of an ordered scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanPage {
    /// In the order of their keys' bytes.
    pub entries: Vec<Entry>,
    /// What to pass as `after` for the next page; none where this is the last.
    pub next: Option<String>,
}

/// How much a bucket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// How many bytes it may hold.
    pub quota_bytes: u64,
}
