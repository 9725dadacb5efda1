//! The state of a test host, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::ToolError;
use crate::state::{Change, Entry, ScanPage, Scope, Usage};

const KEY_BYTES: usize = 512;
const VALUE_BYTES: usize = 1 << 20;
const KEYS_PER_CALL: usize = 1_000;
const BYTES_PER_CALL: usize = 4 << 20;
const QUOTA_BYTES: u64 = 64 << 20;

/// When every content of a test host expires.
const EXPIRED_AT: &str = "2026-01-01T00:00:00Z";

/// What keys a bucket: only the ids that its scope looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BucketKey {
    scope: &'static str,
    session: Option<String>,
    assistant: Option<String>,
    thread: Option<String>,
    name: String,
}

impl BucketKey {
    pub(super) fn new(
        scope: Scope,
        session: &str,
        assistant: Option<&str>,
        thread: Option<&str>,
        name: &str,
    ) -> Result<Self, ToolError> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=64).contains(&name.len()) || !name.bytes().all(legal) {
            return Err(ToolError::invalid(format!(
                "`{name}` cannot name a bucket: it needs 1 to 64 bytes of [A-Za-z0-9._-]"
            )));
        }
        if scope == Scope::Assistant && assistant.is_none() {
            return Err(ToolError::invalid("this call has no assistant, and so no state of one"));
        }
        Ok(Self::unnamed(scope, session, assistant, thread).named(name))
    }

    fn unnamed(scope: Scope, session: &str, assistant: Option<&str>, thread: Option<&str>) -> Self {
        let owned = |id: Option<&str>| id.map(str::to_owned);
        let (session, assistant, thread) = match scope {
            Scope::Thread => (Some(session.to_owned()), owned(assistant), owned(thread)),
            // What `Default` means is known before.
            Scope::Session | Scope::Default => (Some(session.to_owned()), None, None),
            Scope::Assistant => (None, owned(assistant), None),
            Scope::Plugin => (None, None, None),
        };
        Self { scope: scope.as_str(), session, assistant, thread, name: String::new() }
    }

    fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }
}

#[derive(Debug, Clone)]
struct StoredValue {
    value: Vec<u8>,
    revision: u64,
}

/// Every bucket.
#[derive(Debug, Default)]
pub(super) struct Store {
    buckets: BTreeMap<BucketKey, BTreeMap<String, StoredValue>>,
    expired: BTreeSet<BucketKey>,
    last_revision: u64,
}

impl Store {
    pub(super) fn get_many(&self, bucket: &BucketKey, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        check_count(keys.len())?;
        let mut bytes = 0;
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            check_key(key)?;
            let stored = self.buckets.get(bucket).and_then(|entries| entries.get(*key));
            bytes += stored.map_or(0, |stored| stored.value.len());
            found.push(stored.map(|stored| entry(key, stored)));
        }
        if bytes > BYTES_PER_CALL {
            return Err(ToolError::limit(format!("these values have more than {BYTES_PER_CALL} bytes: ask for fewer")));
        }
        Ok(found)
    }

    pub(super) fn apply(&mut self, bucket: &BucketKey, changes: Vec<Change>) -> Result<Vec<u64>, ToolError> {
        check_count(changes.len())?;
        let mut seen = BTreeSet::new();
        for change in &changes {
            check_key(&change.key)?;
            if !seen.insert(change.key.as_str()) {
                return Err(ToolError::invalid(format!("the key `{}` is given twice", change.key)));
            }
            if change.value.as_ref().is_some_and(|value| value.len() > VALUE_BYTES) {
                return Err(ToolError::invalid(format!(
                    "the value of `{}` has more than {VALUE_BYTES} bytes",
                    change.key
                )));
            }
            let stored = self.buckets.get(bucket).and_then(|entries| entries.get(&change.key));
            let revision = stored.map_or(0, |stored| stored.revision);
            if change.if_revision.is_some_and(|expected| expected != revision) {
                return Err(ToolError::conflict(format!("`{}` changed: its revision is {revision}", change.key)));
            }
        }
        let mut revisions = Vec::with_capacity(changes.len());
        for change in changes {
            let Some(value) = change.value else {
                self.buckets.entry(bucket.clone()).or_default().remove(&change.key);
                revisions.push(0);
                continue;
            };
            self.last_revision += 1;
            self.expired.remove(bucket);
            let stored = StoredValue { value, revision: self.last_revision };
            self.buckets.entry(bucket.clone()).or_default().insert(change.key, stored);
            revisions.push(self.last_revision);
        }
        Ok(revisions)
    }

    pub(super) fn scan(
        &self,
        bucket: &BucketKey,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ScanPage, ToolError> {
        if prefix.len() > KEY_BYTES || after.is_some_and(|after| after.len() > KEY_BYTES) {
            return Err(ToolError::invalid(format!("a key has at most {KEY_BYTES} bytes")));
        }
        let limit = usize::try_from(limit).unwrap_or(KEYS_PER_CALL).clamp(1, KEYS_PER_CALL);
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let Some(entries) = self.buckets.get(bucket) else { return Ok(ScanPage::default()) };
        let mut matching =
            entries.range::<str, _>((from, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(prefix));
        let entries: Vec<Entry> = matching.by_ref().take(limit).map(|(key, stored)| entry(key, stored)).collect();
        let next = matching.next().and(entries.last()).map(|last| last.key.clone());
        Ok(ScanPage { entries, next })
    }

    pub(super) fn usage(&self, bucket: &BucketKey) -> Usage {
        let entries = self.buckets.get(bucket);
        let count = entries.map_or(0, BTreeMap::len);
        let bytes: usize = entries.into_iter().flatten().map(|(key, stored)| key.len() + stored.value.len()).sum();
        let count_of = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Usage { entries: count_of(count), bytes: count_of(bytes), quota_bytes: QUOTA_BYTES }
    }

    pub(super) fn expired_at(&self, bucket: &BucketKey) -> Option<String> {
        self.expired.contains(bucket).then(|| EXPIRED_AT.to_owned())
    }

    pub(super) fn expire(&mut self, scope: Scope, session: &str, assistant: Option<&str>, thread: Option<&str>) {
        let scope = BucketKey::unnamed(scope, session, assistant, thread);
        let names = self.buckets.iter().filter(|(key, entries)| {
            !entries.is_empty() && scope == BucketKey { name: String::new(), ..(*key).clone() }
        });
        let names: Vec<BucketKey> = names.map(|(key, _)| key.clone()).collect();
        for key in names {
            self.buckets.remove(&key);
            self.expired.insert(key);
        }
    }
}

fn entry(key: &str, stored: &StoredValue) -> Entry {
    Entry { key: key.to_owned(), value: stored.value.clone(), revision: stored.revision }
}

fn check_key(key: &str) -> Result<(), ToolError> {
    if (1..=KEY_BYTES).contains(&key.len()) {
        return Ok(());
    }
    Err(ToolError::invalid(format!("a key has 1 to {KEY_BYTES} bytes")))
}

fn check_count(count: usize) -> Result<(), ToolError> {
    if count <= KEYS_PER_CALL {
        return Ok(());
    }
    Err(ToolError::invalid(format!("one call takes at most {KEYS_PER_CALL} keys")))
}
