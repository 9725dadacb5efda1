//! The suite that every store passes: each promise of [`StateStore`], tested
//! through its calls. It knows nothing of how a store keeps its data.

mod concurrency;
mod entries;
mod expiry;
mod isolation;
mod quotas;
mod repetition;
mod scans;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use wharf_core::{ScopeKey, ScopeKind};

use crate::{Ceilings, Clock, EntryPage, ManualClock, ScopePolicy, StateChange, StateEntry, StateError, StateStore};

/// The idle time of the suite's policies.
const IDLE: Duration = Duration::from_secs(1_000);
/// More than any read of the suite returns.
const PLENTY: u64 = 64 << 20;

/// Checks every promise of the stores that `open` makes. Each call of `open` returns
/// an empty store with these ceilings and this clock.
///
/// # Panics
/// Where a store breaks a promise.
pub async fn check(open: impl Fn(Ceilings, Arc<dyn Clock>) -> Arc<dyn StateStore>) {
    let fresh = |ceilings: Ceilings| {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let clock = Arc::new(ManualClock::starting_at(start));
        let store = open(ceilings, Arc::clone(&clock) as Arc<dyn Clock>);
        StoreUnderTest { store, clock, policy: generous() }
    };
    isolation::check(&fresh(Ceilings::default())).await;
    entries::check(&fresh(Ceilings::default())).await;
    repetition::check(&fresh(Ceilings::default())).await;
    scans::check(&fresh(Ceilings::default())).await;
    expiry::check(&fresh).await;
    quotas::check(&fresh).await;
    concurrency::check(&fresh(Ceilings::default())).await;
}

fn generous() -> ScopePolicy {
    ScopePolicy { quota_bytes: 64 << 20, quota_entries: 100_000, idle_expiry: Some(IDLE) }
}

/// A store under test, its clock, and the default policy of its calls.
struct StoreUnderTest {
    store: Arc<dyn StateStore>,
    clock: Arc<ManualClock>,
    policy: ScopePolicy,
}

impl StoreUnderTest {
    async fn apply(&self, scope: &ScopeKey, changes: Vec<StateChange>) -> Result<Vec<u64>, StateError> {
        self.store.apply(scope, &self.policy, changes, soon()).await
    }

    async fn put(&self, scope: &ScopeKey, key: &str, value: &[u8]) -> u64 {
        self.apply(scope, vec![put(key, value)]).await.expect("a put")[0]
    }

    async fn get(&self, scope: &ScopeKey, key: &str) -> Option<StateEntry> {
        self.get_many(scope, &[key]).await.remove(0)
    }

    async fn value(&self, scope: &ScopeKey, key: &str) -> Option<Vec<u8>> {
        self.get(scope, key).await.map(|entry| entry.value)
    }

    async fn get_many(&self, scope: &ScopeKey, keys: &[&str]) -> Vec<Option<StateEntry>> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        self.store.get_many(scope, &self.policy, &keys, PLENTY).await.expect("a read")
    }

    async fn scan(&self, scope: &ScopeKey, prefix: &str, after: Option<&str>, limit: u32) -> EntryPage {
        self.store.scan(scope, &self.policy, prefix, after, limit, PLENTY).await.expect("a scan")
    }

    async fn usage(&self, scope: &ScopeKey) -> (u64, u64) {
        let usage = self.store.usage(scope).await.expect("usage");
        (usage.entries, usage.bytes)
    }

    async fn expired_at(&self, scope: &ScopeKey) -> Option<SystemTime> {
        self.store.expired_at(scope).await.expect("expired-at")
    }

    async fn sweep(&self) -> (u64, u64) {
        let swept = self.store.sweep(self.clock.now()).await.expect("a sweep");
        (swept.scopes, swept.bytes)
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn put(key: &str, value: &[u8]) -> StateChange {
    StateChange { key: key.into(), value: Some(value.into()), if_revision: None }
}

fn put_if(key: &str, value: &[u8], revision: u64) -> StateChange {
    StateChange { if_revision: Some(revision), ..put(key, value) }
}

fn delete(key: &str) -> StateChange {
    StateChange { key: key.into(), value: None, if_revision: None }
}

/// A thread scope with these ids, '' for absent.
fn thread(session: &str, assistant: &str, thread: &str) -> ScopeKey {
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

fn keys(page: &EntryPage) -> Vec<&str> {
    page.entries.iter().map(|entry| entry.key.as_str()).collect()
}
