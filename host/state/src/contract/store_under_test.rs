//! A store under test, with what its tests call and write.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use wharf_core::{ScopeKey, ScopeKind};

use crate::{Clock as _, EntryPage, ManualClock, ScopePolicy, StateChange, StateEntry, StateError, StateStore};

/// The idle time of the suite's policies.
pub(super) const IDLE: Duration = Duration::from_secs(1_000);
/// More than any read of the suite returns.
pub(super) const PLENTY: u64 = 64 << 20;

pub(super) fn generous() -> ScopePolicy {
    ScopePolicy { quota_bytes: 64 << 20, quota_entries: 100_000, idle_expiry: Some(IDLE) }
}

/// A store under test, its clock, and the default policy of its calls.
pub(super) struct StoreUnderTest {
    pub(super) store: Arc<dyn StateStore>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) policy: ScopePolicy,
}

impl StoreUnderTest {
    pub(super) async fn apply(&self, scope: &ScopeKey, changes: Vec<StateChange>) -> Result<Vec<u64>, StateError> {
        self.store.apply(scope, &self.policy, changes, soon()).await
    }

    pub(super) async fn put(&self, scope: &ScopeKey, key: &str, value: &[u8]) -> u64 {
        self.apply(scope, vec![put(key, value)]).await.expect("a put")[0]
    }

    pub(super) async fn get(&self, scope: &ScopeKey, key: &str) -> Option<StateEntry> {
        self.get_many(scope, &[key]).await.remove(0)
    }

    pub(super) async fn value(&self, scope: &ScopeKey, key: &str) -> Option<Vec<u8>> {
        self.get(scope, key).await.map(|entry| entry.value)
    }

    pub(super) async fn get_many(&self, scope: &ScopeKey, keys: &[&str]) -> Vec<Option<StateEntry>> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        self.store.get_many(scope, &self.policy, &keys, PLENTY).await.expect("a read")
    }

    pub(super) async fn scan(&self, scope: &ScopeKey, prefix: &str, after: Option<&str>, limit: u32) -> EntryPage {
        self.store.scan(scope, &self.policy, prefix, after, limit, PLENTY).await.expect("a scan")
    }

    pub(super) async fn usage(&self, scope: &ScopeKey) -> (u64, u64) {
        let usage = self.store.usage(scope).await.expect("usage");
        (usage.entries, usage.bytes)
    }

    pub(super) async fn expired_at(&self, scope: &ScopeKey) -> Option<SystemTime> {
        self.store.expired_at(scope).await.expect("expired-at")
    }

    pub(super) async fn sweep(&self) -> (u64, u64) {
        let swept = self.store.sweep(self.clock.now()).await.expect("a sweep");
        (swept.scopes, swept.bytes)
    }
}

pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(super) fn put(key: &str, value: &[u8]) -> StateChange {
    StateChange { key: key.into(), value: Some(value.into()), if_revision: None }
}

pub(super) fn put_if(key: &str, value: &[u8], revision: u64) -> StateChange {
    StateChange { if_revision: Some(revision), ..put(key, value) }
}

pub(super) fn delete(key: &str) -> StateChange {
    StateChange { key: key.into(), value: None, if_revision: None }
}

/// A thread scope with these ids, '' for absent.
pub(super) fn thread(session: &str, assistant: &str, thread: &str) -> ScopeKey {
    ScopeKey {
        tenant: "local".parse().expect("legal"),
        plugin: "planning".parse().expect("legal"),
        kind: ScopeKind::Thread,
        session: session.parse().ok(),
        assistant: assistant.parse().ok(),
        thread: thread.parse().ok(),
        bucket: "main".parse().expect("legal"),
    }
}

pub(super) fn keys(page: &EntryPage) -> Vec<&str> {
    page.entries.iter().map(|entry| entry.key.as_str()).collect()
}
