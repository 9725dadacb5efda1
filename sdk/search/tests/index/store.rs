//! A store in memory that holds an index to the bounds of the host.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use wharf_sdk::{Change, Entry, ToolError};
use wharf_search::Store;

type Entries = BTreeMap<String, (Vec<u8>, u64)>;

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) entries: Mutex<(Entries, u64)>,
    pub(crate) reads: AtomicU32,
    pub(crate) writes: AtomicU32,
    /// Bytes of one call, where that is not the default of the host.
    pub(crate) call_bytes: Option<usize>,
    /// How many of the next changes conflict.
    pub(crate) conflicts: AtomicU32,
}

impl Memory {
    pub(crate) fn entries(&self) -> MutexGuard<'_, (Entries, u64)> {
        self.entries.lock().expect("no test panics with it")
    }

    pub(crate) fn reads_of<R>(&self, work: impl FnOnce() -> R) -> (u32, R) {
        let before = self.reads.load(Ordering::Relaxed);
        let result = work();
        (self.reads.load(Ordering::Relaxed) - before, result)
    }
}

impl Store for &Memory {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        assert!(keys.len() <= 1_000, "{} keys", keys.len());
        let entries = self.entries();
        let found = keys.iter().map(|key| {
            let (value, revision) = entries.0.get(*key)?;
            Some(Entry { key: (*key).to_owned(), value: value.clone(), revision: *revision })
        });
        let found: Vec<_> = found.collect();
        if found.iter().flatten().map(|entry| entry.value.len()).sum::<usize>() > self.call_bytes.unwrap_or(4 << 20) {
            return Err(ToolError::limit("ask for fewer"));
        }
        Ok(found)
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), ToolError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        assert!(changes.len() <= 1_000, "{} changes", changes.len());
        let size: usize = changes.iter().map(|change| change.value.as_ref().map_or(0, Vec::len)).sum();
        assert!(size < self.call_bytes.unwrap_or(4 << 20), "{size} bytes at once");
        let mut entries = self.entries();
        for Change { key, value, if_revision } in &changes {
            assert!(value.as_ref().is_none_or(|value| value.len() <= 1 << 20), "{key} is too large");
            let revision = entries.0.get(key).map_or(0, |(_, revision)| *revision);
            if if_revision.is_some_and(|expected| expected != revision) {
                return Err(ToolError::conflict(format!("`{key}` changed")));
            }
        }
        let left = self.conflicts.load(Ordering::Relaxed);
        if left > 0 {
            self.conflicts.store(left - 1, Ordering::Relaxed);
            // As if somebody else had written the same header just before.
            entries.1 += 1;
            let revision = entries.1;
            if let Some(header) = entries.0.get_mut("i/h") {
                header.1 = revision;
            }
            return Err(ToolError::conflict("somebody was faster"));
        }
        for Change { key, value, .. } in changes {
            entries.1 += 1;
            let revision = entries.1;
            match value {
                Some(value) => entries.0.insert(key, (value, revision)),
                None => entries.0.remove(&key),
            };
        }
        Ok(())
    }

    fn wait_to_retry(&self, attempts: u32) -> bool {
        std::thread::yield_now();
        attempts < 500
    }
}
