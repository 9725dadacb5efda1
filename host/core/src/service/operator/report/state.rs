//! What is told of the state of plugins.

use schemars::JsonSchema;
use serde::Serialize;

/// What a plugin keeps in its state for a tenant, by the part of the context that keys it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateReport {
    /// Whose it is.
    pub tenant: String,
    /// The plugin that wrote it.
    pub plugin: String,
    /// `thread`, `session`, `assistant` or `plugin`.
    pub scope: String,
    /// Buckets that have content.
    pub buckets: u64,
    /// Their entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Entries of the bucket that has most.
    pub most_entries: u64,
    /// Bytes of the bucket that has most.
    pub most_bytes: u64,
    /// How many entries a bucket may have; absent where the plugin is granted no state.
    pub quota_entries: Option<u64>,
    /// How many bytes a bucket may have.
    pub quota_bytes: Option<u64>,
}

/// Buckets of a selection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct BucketsReport {
    /// In the order of their names, the first 1,000.
    pub buckets: Vec<BucketReport>,
    /// How many more there are.
    pub left_off: u64,
}

/// A bucket with content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BucketReport {
    /// Which plugin wrote it.
    pub plugin: String,
    /// Its scope: `session`, `thread`, `assistant` and the like.
    pub scope: String,
    /// Of which session, for the scopes `session` and `thread`.
    pub session: Option<String>,
    /// Of which assistant, for the scope `assistant`, and for `thread` where calls name one.
    pub assistant: Option<String>,
    /// Of which thread, for the scope `thread` where calls name one.
    pub thread: Option<String>,
    /// Its name.
    pub bucket: String,
    /// Its entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// When it expires unless it is used before; absent for never.
    pub expires: Option<String>,
}
