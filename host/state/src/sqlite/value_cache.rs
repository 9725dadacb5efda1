//! Keeps values in memory that are read again and again: mostly those of a search index.
//!
//! The cache keeps a value for one revision of its scope. Every write to a scope changes
//! that revision in the same transaction, whichever process writes, and a scope
//! that expires or is removed gets another id. A reader asks for the revision
//! of its own snapshot, so the cache answers what the database would.
//! It keeps entries and never their absence. It knows no SQL.

use std::fmt;

use quick_cache::{Equivalent, Weighter, sync::Cache};

use super::read::ScopeRow;
use crate::StateEntry;

/// Bytes of all kept values.
const BYTES: u64 = 32 << 20;
/// What one entry takes besides its key and value.
const OVERHEAD: usize = 128;
/// The cache keeps no larger value.
const LARGEST_VALUE: usize = 256 << 10;
/// Scopes whose last read the cache remembers.
const SCOPES: usize = 1_024;

pub(super) struct ValueCache {
    values: Cache<EntryKey, CachedValue, CacheWeight>,
    /// Scopes and the revision at which they were last read. The cache keeps values from
    /// the second read on: a scope that is written as often as it is read fills no memory.
    read: Cache<i64, i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EntryKey {
    scope: i64,
    key: String,
}

#[derive(PartialEq, Eq, Hash)]
struct EntryKeyRef<'key> {
    scope: i64,
    key: &'key str,
}

impl Equivalent<EntryKey> for EntryKeyRef<'_> {
    fn equivalent(&self, key: &EntryKey) -> bool {
        self.scope == key.scope && self.key == key.key
    }
}

#[derive(Clone)]
struct CachedValue {
    scope_revision: i64,
    revision: u64,
    value: std::sync::Arc<[u8]>,
}

#[derive(Clone)]
struct CacheWeight;

impl Weighter<EntryKey, CachedValue> for CacheWeight {
    fn weight(&self, key: &EntryKey, cached: &CachedValue) -> u64 {
        (key.key.len() + cached.value.len() + OVERHEAD) as u64
    }
}

impl ValueCache {
    pub(super) fn new() -> Self {
        // An estimate for values of some kilobytes.
        let entries = usize::try_from(BYTES / 4096).unwrap_or(usize::MAX);
        Self { values: Cache::with_weighter(entries, BYTES, CacheWeight), read: Cache::new(SCOPES) }
    }

    /// The entry of a key in a scope as it is now.
    pub(super) fn get(&self, scope: &ScopeRow, key: &str) -> Option<StateEntry> {
        let cached = self.values.get(&EntryKeyRef { scope: scope.id, key })?;
        (cached.scope_revision == scope.revision).then(|| StateEntry {
            key: key.to_owned(),
            value: cached.value.to_vec(),
            revision: cached.revision,
        })
    }

    /// Whether to keep values that are read from a scope as it is now.
    pub(super) fn wants(&self, scope: &ScopeRow) -> bool {
        let again = self.read.get(&scope.id) == Some(scope.revision);
        if !again {
            self.read.insert(scope.id, scope.revision);
        }
        again
    }

    /// Keeps an entry that was read in the same snapshot as its scope.
    pub(super) fn keep(&self, scope: &ScopeRow, entry: &StateEntry) {
        if entry.value.len() <= LARGEST_VALUE {
            let key = EntryKey { scope: scope.id, key: entry.key.clone() };
            let (scope_revision, revision) = (scope.revision, entry.revision);
            self.values.insert(key, CachedValue { scope_revision, revision, value: entry.value.as_slice().into() });
        }
    }
}

impl fmt::Debug for ValueCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ValueCache").field("bytes", &self.values.weight()).finish_non_exhaustive()
    }
}
