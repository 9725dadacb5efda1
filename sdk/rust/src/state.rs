//! [`Bucket`]: durable entries of a plugin, as a tool sees them.
//!
//! Reading and changing in one step is in `update`.

use serde::Serialize;
use serde::de::DeserializeOwned;
pub use wharf_contract::state::Scope;

use crate::error::ErrorCode;
use crate::host::{ActiveBucket, HostBucket};
use crate::{Call, ToolError};

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
pub struct Page {
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

/// The entries of one scope under one name.
///
/// Every function may also fail with `unavailable` or `timeout`, after which
/// nothing was written and the same call may succeed later.
#[derive(Debug)]
pub struct Bucket<'call> {
    pub(crate) call: &'call Call,
    pub(crate) host: ActiveBucket,
    pub(crate) room: Option<&'static str>,
}

impl Bucket<'_> {
    /// What a model can do once the bucket is full, such as "clear_todos makes
    /// room". The host knows how much there is and may be, and only the plugin
    /// knows its tools: where a write is refused with `limit`, both are said.
    #[must_use]
    pub fn when_full(mut self, advice: &'static str) -> Self {
        self.room = Some(advice);
        self
    }

    /// The entry of one key.
    ///
    /// # Errors
    /// As [`Bucket::get_many`].
    pub fn get(&self, key: &str) -> Result<Option<Entry>, ToolError> {
        Ok(self.get_many(&[key])?.pop().flatten())
    }

    /// The value of one key, written as JSON.
    ///
    /// # Errors
    /// As [`Bucket::get_many`], and `internal` where it is not JSON of `T`.
    pub fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        self.get(key)?.map(|entry| entry.json()).transpose()
    }

    /// The entries of at most 1,000 keys, in the order of `keys`.
    ///
    /// # Errors
    /// `invalid` for too many keys or an illegal one; `limit` where the values
    /// together are too much for one host call.
    pub fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        self.host.get_many(keys)
    }

    /// Writes one value, whatever is there, and returns its revision.
    ///
    /// # Errors
    /// As [`Bucket::apply`].
    pub fn put(&self, key: &str, value: impl Into<Vec<u8>>) -> Result<u64, ToolError> {
        let revisions = self.apply(vec![Change::put(key, value)])?;
        Ok(revisions.first().copied().unwrap_or_default())
    }

    /// Writes one value as JSON, whatever is there, and returns its revision.
    ///
    /// # Errors
    /// As [`Bucket::apply`].
    pub fn put_json<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<u64, ToolError> {
        self.put(key, serde_json::to_vec(value)?)
    }

    /// Deletes a key, which need not exist.
    ///
    /// # Errors
    /// As [`Bucket::apply`].
    pub fn delete(&self, key: &str) -> Result<(), ToolError> {
        self.apply(vec![Change::delete(key)]).map(drop)
    }

    /// Makes all changes or none, and returns the new revision of each, 0 for
    /// one that deletes. At most 1,000 changes, no key twice.
    ///
    /// # Errors
    /// `conflict` names the first key whose revision is not the expected one;
    /// `invalid` for an illegal key, value or number of changes; `limit` where
    /// a quota would be exceeded.
    pub fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError> {
        self.host.apply(changes).map_err(|error| match self.room {
            Some(room) if error.code == ErrorCode::Limit => {
                ToolError { message: format!("{}. Here, {room}", error.message), ..error }
            }
            _ => error,
        })
    }

    /// One page of the entries whose key starts with `prefix`, in key order,
    /// from the first one after `after`; at most `limit` of them (1 to 1,000).
    ///
    /// # Errors
    /// `invalid` where `prefix` or `after` is too long for a key.
    pub fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, ToolError> {
        self.host.scan(prefix, after, limit)
    }

    /// What the bucket holds now, and may hold.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn usage(&self) -> Result<Usage, ToolError> {
        self.host.usage()
    }

    /// When the content of this bucket last expired, as RFC 3339 in UTC, if
    /// that is why it is empty. The first write ends this.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn expired_at(&self) -> Result<Option<String>, ToolError> {
        self.host.expired_at()
    }
}
