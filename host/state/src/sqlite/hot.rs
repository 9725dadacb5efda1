//! Values that are read again and again, kept in memory: those of a search
//! index, mostly.
//!
//! A value is kept for one revision of its scope. Every write to a scope changes
//! that revision in the same transaction, whichever process writes, and a scope
//! that expires or is removed gets another id. A reader asks for the revision
//! that its own snapshot has, so what it gets is what the database would answer.
//! Only what is there is kept, never that something is not. It knows no SQL.

use std::fmt;

use quick_cache::{Equivalent, Weighter, sync::Cache};

use super::read::ScopeRow;
use crate::Entry;

/// Bytes of all values that are kept.
const BYTES: u64 = 32 << 20;
/// What one entry takes besides its key and value.
const OVERHEAD: usize = 128;
/// Larger values are not worth their room.
const LARGEST_VALUE: usize = 256 << 10;
/// Scopes whose last reads are remembered.
const SCOPES: usize = 1_024;

pub(super) struct Hot {
    values: Cache<Place, Kept, Weight>,
    /// Scopes that were read, and at which revision. Values are kept from the
    /// second read on, so that what is written as often as it is read does not
    /// fill the memory.
    read: Cache<i64, i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    scope: i64,
    key: String,
}

#[derive(PartialEq, Eq, Hash)]
struct Asked<'key> {
    scope: i64,
    key: &'key str,
}

impl Equivalent<Place> for Asked<'_> {
    fn equivalent(&self, place: &Place) -> bool {
        self.scope == place.scope && self.key == place.key
    }
}

#[derive(Clone)]
struct Kept {
    scope_revision: i64,
    revision: u64,
    value: std::sync::Arc<[u8]>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Place, Kept> for Weight {
    fn weight(&self, place: &Place, kept: &Kept) -> u64 {
        (place.key.len() + kept.value.len() + OVERHEAD) as u64
    }
}

impl Hot {
    pub(super) fn new() -> Self {
        // About what so many bytes are if a value has some kilobytes.
        let entries = usize::try_from(BYTES / 4096).unwrap_or(usize::MAX);
        Self { values: Cache::with_weighter(entries, BYTES, Weight), read: Cache::new(SCOPES) }
    }

    /// The entry of a key in a scope as it is now.
    pub(super) fn get(&self, scope: &ScopeRow, key: &str) -> Option<Entry> {
        let kept = self.values.get(&Asked { scope: scope.id, key })?;
        (kept.scope_revision == scope.revision).then(|| Entry {
            key: key.to_owned(),
            value: kept.value.to_vec(),
            revision: kept.revision,
        })
    }

    /// Whether to keep what is read of a scope as it is now.
    pub(super) fn wants(&self, scope: &ScopeRow) -> bool {
        let again = self.read.get(&scope.id) == Some(scope.revision);
        if !again {
            self.read.insert(scope.id, scope.revision);
        }
        again
    }

    /// Keeps an entry that was read in the same snapshot as its scope.
    pub(super) fn keep(&self, scope: &ScopeRow, entry: &Entry) {
        if entry.value.len() <= LARGEST_VALUE {
            let place = Place { scope: scope.id, key: entry.key.clone() };
            let (scope_revision, revision) = (scope.revision, entry.revision);
            self.values.insert(place, Kept { scope_revision, revision, value: entry.value.as_slice().into() });
        }
    }
}

impl fmt::Debug for Hot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hot").field("bytes", &self.values.weight()).finish_non_exhaustive()
    }
}
