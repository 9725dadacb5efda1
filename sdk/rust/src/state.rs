//! [`Bucket`]: durable entries of a plugin, as a tool sees them.
//!
//! What is stored and changed is in `entry`; reading and changing in one step is in `update`.

pub(crate) mod entry;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ErrorCode;
use crate::host::{ActiveBucket, HostBucket};
use crate::{Call, ToolError};

pub use entry::{Change, Entry, ScanPage, Scope, Usage};

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
    pub fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<ScanPage, ToolError> {
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
