//! A store in memory, with every promise of [`StateStore`] but durability: for
//! tests of other crates, and for hosts that keep nothing.
//!
//! It knows nothing of disks or of other processes.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Arc,
    time::{Instant, SystemTime},
};

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use wharf_core::{ScopeKey, TenantId};

use crate::{
    Ceilings, Clock, EntryPage, HostTime, KeyPage, ScopePolicy, ScopeUsage, StateChange, StateEntry, StateError,
    StateStore, SweepTotals, SystemClock, TOMBSTONE_LIFETIME,
    clock::{duration_milliseconds, from_milliseconds, to_milliseconds},
    host_time::Moment,
    rules::{self, Growth, Total},
    scan_range::{ScanRange, ScanStart},
};

/// Keeps state in memory and loses all of it when it is dropped.
#[derive(Debug)]
pub struct MemoryStore {
    ceilings: Ceilings,
    time: HostTime,
    // Held for one operation, which is a few look-ups in maps and never waits.
    state: Mutex<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    scopes: HashMap<ScopeKey, MemoryScope>,
    tenants: HashMap<TenantId, Total>,
    host: Total,
    /// One counter for all scopes, so that no revision comes twice.
    last_revision: u64,
}

#[derive(Debug, Default)]
struct MemoryScope {
    entries: BTreeMap<String, StoredValue>,
    bytes: u64,
    expires: Option<i64>,
    /// Set for the empty remains of an expired scope; `expires`
    /// then is when a sweep may remove them.
    expired_at: Option<i64>,
}

#[derive(Debug, Clone)]
struct StoredValue {
    value: Vec<u8>,
    revision: u64,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Ceilings::default(), Arc::new(SystemClock))
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(ceilings: Ceilings, clock: Arc<dyn Clock>) -> Self {
        Self { ceilings, time: HostTime::new(clock), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        // Nothing panics between two changes that belong together.
        self.state.lock()
    }

    fn now(&self) -> Moment {
        self.time.moment()
    }
}

impl MemoryScope {
    fn alive(&self, now: i64) -> bool {
        self.expired_at.is_none() && self.expires.is_none_or(|expires| expires > now)
    }
}

impl MemoryState {
    /// Records a use and returns the scope; none where it is empty.
    fn read(&mut self, scope: &ScopeKey, policy: &ScopePolicy, now: Moment) -> Option<&MemoryScope> {
        let found = self.scopes.get_mut(scope).filter(|found| found.alive(now.passed))?;
        found.expires = rules::expires_after_use(policy, now.stamp);
        Some(found)
    }

    /// Hands out the entries of a page one by one; `counted` is what of a value counts. Returns the
    /// last key of a page that others follow.
    fn walk(
        &mut self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        range: ScanRange<'_>,
        now: Moment,
        counted: fn(&StoredValue) -> &[u8],
        mut take: impl FnMut(&str, &StoredValue),
    ) -> Option<String> {
        let found = self.read(scope, policy, now)?;
        let start = match range.start() {
            ScanStart::After(key) => Bound::Excluded(key),
            ScanStart::At(key) => Bound::Included(key),
        };
        let (mut room, mut last) = (range.room(), None::<&String>);
        for (key, stored) in found.entries.range::<str, _>((start, Bound::Unbounded)) {
            if !key.starts_with(range.prefix) {
                break;
            }
            if !room.takes(rules::entry_bytes(key, counted(stored))) {
                return last.cloned();
            }
            take(key, stored);
            last = Some(key);
        }
        None
    }

    fn expire(&mut self, scope: &ScopeKey, now: i64) -> u64 {
        let Some(found) = self.scopes.get_mut(scope) else { return 0 };
        let bytes = found.bytes;
        let growth = Growth {
            entries_before: found.entries.len() as u64,
            entries_after: 0,
            bytes_before: bytes,
            bytes_after: 0,
        };
        *found = MemoryScope {
            expired_at: found.expires,
            expires: Some(now + duration_milliseconds(TOMBSTONE_LIFETIME)),
            ..MemoryScope::default()
        };
        self.settle(&scope.tenant, growth);
        bytes
    }

    fn expire_due(&mut self, now: i64) -> SweepTotals {
        let due: Vec<ScopeKey> = self
            .scopes
            .iter()
            .filter(|(_, found)| found.expired_at.is_none() && !found.alive(now))
            .map(|(scope, _)| scope.clone())
            .collect();
        let bytes = due.iter().map(|scope| self.expire(scope, now)).sum();
        SweepTotals { scopes: due.len() as u64, bytes }
    }

    fn tenant(&self, tenant: &TenantId) -> Total {
        self.tenants.get(tenant).copied().unwrap_or_default()
    }

    fn settle(&mut self, tenant: &TenantId, growth: Growth) {
        self.host = growth.total(self.host);
        let after = growth.total(self.tenant(tenant));
        if after == Total::default() {
            self.tenants.remove(tenant);
        } else {
            self.tenants.insert(tenant.clone(), after);
        }
    }

    fn apply(
        &mut self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        ceilings: &Ceilings,
        now: Moment,
    ) -> Result<Vec<u64>, StateError> {
        if self.scopes.get(scope).is_some_and(|found| found.expired_at.is_none() && !found.alive(now.passed)) {
            self.expire(scope, now.passed);
        }
        let empty = MemoryScope::default();
        let found = self.scopes.get(scope).unwrap_or(&empty);
        let mut growth = Growth {
            entries_before: found.entries.len() as u64,
            entries_after: found.entries.len() as u64,
            bytes_before: found.bytes,
            bytes_after: found.bytes,
        };
        for StateChange { key, value, if_revision } in &changes {
            let stored = found.entries.get(key);
            let revision = stored.map_or(0, |stored| stored.revision);
            if let Some(expected) = *if_revision
                && expected != revision
            {
                return Err(StateError::Conflict { key: key.clone(), expected, found: revision });
            }
            if let Some(stored) = stored {
                growth.entries_after -= 1;
                growth.bytes_after -= rules::entry_bytes(key, &stored.value);
            }
            if let Some(value) = value {
                growth.entries_after += 1;
                growth.bytes_after += rules::entry_bytes(key, value);
            }
        }
        if changes.iter().any(|change| change.value.is_some()) {
            growth.check_quotas(scope, policy)?;
            if growth.check_ceilings(ceilings, self.tenant(&scope.tenant), self.host).is_err() {
                self.expire_due(now.passed);
                growth.check_ceilings(ceilings, self.tenant(&scope.tenant), self.host)?;
            }
        }
        self.settle(&scope.tenant, growth);
        self.last_revision += 1;
        let revision = self.last_revision;
        let found = self.scopes.entry(scope.clone()).or_default();
        let revisions = changes
            .into_iter()
            .map(|change| match change.value {
                Some(value) => {
                    found.entries.insert(change.key, StoredValue { value, revision });
                    revision
                }
                None => {
                    found.entries.remove(&change.key);
                    0
                }
            })
            .collect();
        found.bytes = growth.bytes_after;
        found.expires = rules::expires_after_use(policy, now.stamp);
        found.expired_at = None;
        if found.entries.is_empty() {
            self.scopes.remove(scope);
        }
        Ok(revisions)
    }
}

#[async_trait]
impl StateStore for MemoryStore {
    fn host_time(&self) -> HostTime {
        self.time.clone()
    }

    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<StateEntry>>, StateError> {
        rules::check_keys(keys)?;
        let now = self.now();
        let mut state = self.state();
        let Some(found) = state.read(scope, policy, now) else { return Ok(vec![None; keys.len()]) };
        let mut left = max_bytes;
        keys.iter()
            .map(|key| {
                let Some(stored) = found.entries.get(key) else { return Ok(None) };
                left = left.checked_sub(stored.value.len() as u64).ok_or(StateError::ReadTooLarge { max_bytes })?;
                Ok(Some(stored.entry(key)))
            })
            .collect()
    }

    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        _until: Instant,
    ) -> Result<Vec<u64>, StateError> {
        rules::check_changes(&changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.now();
        self.state().apply(scope, policy, changes, &self.ceilings, now)
    }

    async fn scan(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<EntryPage, StateError> {
        let (range, mut entries) = (ScanRange::new(prefix, after, limit, max_bytes)?, Vec::new());
        let take = |key: &str, stored: &StoredValue| entries.push(stored.entry(key));
        let next = self.state().walk(scope, policy, range, self.now(), |stored| &stored.value, take);
        Ok(EntryPage { entries, next })
    }

    async fn scan_keys(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<KeyPage, StateError> {
        let (range, mut keys) = (ScanRange::new(prefix, after, limit, max_bytes)?, Vec::new());
        let take = |key: &str, stored: &StoredValue| keys.push((key.to_owned(), stored.revision));
        let next = self.state().walk(scope, policy, range, self.now(), |_| &[], take);
        Ok(KeyPage { keys, next })
    }

    async fn usage(&self, scope: &ScopeKey) -> Result<ScopeUsage, StateError> {
        let now = self.now();
        let usage = |found: &MemoryScope| ScopeUsage { entries: found.entries.len() as u64, bytes: found.bytes };
        let state = self.state();
        let alive = state.scopes.get(scope).filter(|found| found.alive(now.passed));
        Ok(alive.map(usage).unwrap_or_default())
    }

    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError> {
        let now = self.now();
        let state = self.state();
        let expired = state.scopes.get(scope).filter(|found| !found.alive(now.passed));
        Ok(expired.and_then(|found| found.expired_at.or(found.expires)).map(from_milliseconds))
    }

    async fn sweep(&self, now: SystemTime) -> Result<SweepTotals, StateError> {
        let now = to_milliseconds(now);
        let mut state = self.state();
        state.scopes.retain(|_, found| found.expired_at.is_none() || found.expires.is_none_or(|until| until > now));
        Ok(state.expire_due(now))
    }
}

impl StoredValue {
    fn entry(&self, key: &str) -> StateEntry {
        StateEntry { key: key.to_owned(), value: self.value.clone(), revision: self.revision }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn memory_keeps_the_contract() {
        contract::check(|ceilings, clock| Arc::new(MemoryStore::new(ceilings, clock))).await;
    }
}
