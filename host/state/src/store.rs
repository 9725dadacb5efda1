//! The contract of a store of state: its calls, its records and its promises.

use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use wharf_core::{ScopeKey, ScopeKind, StateGrant};

use crate::{HostTime, StateError};

/// One stored entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// 1 to 512 bytes.
    pub key: String,
    /// At most 1 MiB.
    pub value: Vec<u8>,
    /// Changes with every write of this key, never returns to an earlier
    /// value, even where the key or the whole scope was deleted or expired in
    /// between, and is never 0.
    pub revision: u64,
}

/// One change of [`StateStore::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// 1 to 512 bytes.
    pub key: String,
    /// The new value, at most 1 MiB; none deletes the key, which need not
    /// exist.
    pub value: Option<Vec<u8>>,
    /// The revision that the key must have now: 0 where it must be absent,
    /// none for any.
    pub if_revision: Option<u64>,
}

/// One page of an ordered scan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryPage {
    /// In the order of their keys' bytes.
    pub entries: Vec<StateEntry>,
    /// The `after` of the next page; none where this is the last.
    pub next: Option<String>,
}

/// One page of an ordered scan that reads no values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPage {
    /// Keys and their revisions, in the order of the keys' bytes.
    pub keys: Vec<(String, u64)>,
    /// The `after` of the next page; none where this is the last.
    pub next: Option<String>,
}

/// The size of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeUsage {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// The quotas and the expiry of the scope of one call. The caller makes it from the grant
/// of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopePolicy {
    /// Bytes of keys and values that the scope may hold.
    pub quota_bytes: u64,
    /// Entries that the scope may hold.
    pub quota_entries: u64,
    /// The time without use after which the scope expires; none for never.
    pub idle_expiry: Option<Duration>,
}

impl ScopePolicy {
    /// The policy that `grant` sets for scopes of this kind.
    #[must_use]
    pub fn of(grant: &StateGrant, kind: ScopeKind) -> Self {
        Self {
            quota_bytes: grant.quota_bytes,
            quota_entries: grant.quota_entries,
            idle_expiry: grant.idle_expiry(kind),
        }
    }
}

/// The totals of one [`StateStore::sweep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepTotals {
    /// Scopes that had expired.
    pub scopes: u64,
    /// Bytes of keys and values that they held.
    pub bytes: u64,
}

/// Stores entries under (scope, key).
///
/// A store promises, and the suite in `contract` checks:
///
/// - Entries of one scope are never visible from another, whatever the ids.
/// - A write is durable when it returns, even where the process is killed the
///   moment after; a store that is not on disk documents its exception. A refused write
///   changes nothing.
/// - A call sees all or nothing of every `apply`, and every call that returned
///   before it began.
/// - A scope expires after `idle_expiry` without a read or write.
///   From that moment it reads as empty, whether swept or not, and its content
///   no longer counts against its quotas. The store records the time of a write to a
///   thousandth part of `idle_expiry` and that of a read to a tenth: a scope that is
///   only read may expire a tenth early. A read is recorded at the latest when
///   a later `apply` on the same store returns. `usage` and `expired_at` are
///   not uses.
/// - Quotas and ceilings never refuse changes that only delete, nor changes after which
///   scope, tenant and store hold no more than before.
/// - Dropping a future is safe: the write then happened as a whole or not at
///   all.
///
/// The futures need a tokio runtime with its timer enabled.
#[async_trait]
pub trait StateStore: Send + Sync + 'static {
    /// The entries of at most 1,000 `keys`, in their order; none for an absent key.
    ///
    /// # Errors
    /// `TooManyKeys`, `IllegalKey`; `ReadTooLarge` where the values together
    /// exceed `max_bytes`; storage errors.
    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<StateEntry>>, StateError>;

    /// Makes all `changes` or none, and returns the new revision of each, 0
    /// for a deletion. Waits for its turn until `until`; past it the call writes nothing.
    ///
    /// # Errors
    /// `TooManyChanges`, `IllegalKey`, `ValueTooLarge`, `DuplicateKey`;
    /// `Conflict` for the first key whose revision is not the expected one;
    /// the quotas and ceilings; `Busy`; storage errors.
    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError>;

    /// As [`StateStore::apply`], and calls `committed` once the changes are made, on the
    /// first thread that knows: work that waits for them need not wait until
    /// this call runs again. Refused changes drop `committed` without a call.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    async fn apply_and_notify(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
        committed: Box<dyn FnOnce() + Send>,
    ) -> Result<Vec<u64>, StateError> {
        let revisions = self.apply(scope, policy, changes, until).await?;
        committed();
        Ok(revisions)
    }

    /// The entries whose key starts with `prefix`, in the order of their keys'
    /// bytes, from the first one after `after`: at most `limit` (clamped to 1
    /// to 1,000), and no more than fit `max_bytes` of keys and values, but at
    /// least one.
    ///
    /// # Errors
    /// `IllegalKey` where `prefix` or `after` is too long for a key; storage
    /// errors.
    async fn scan(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<EntryPage, StateError>;

    /// As [`StateStore::scan`], but reads no values: `max_bytes` counts the keys alone.
    ///
    /// # Errors
    /// As [`StateStore::scan`].
    async fn scan_keys(
        &self,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<KeyPage, StateError>;

    /// The size of the scope.
    ///
    /// # Errors
    /// Storage errors.
    async fn usage(&self, scope: &ScopeKey) -> Result<ScopeUsage, StateError>;

    /// When the content of the scope expired, where the scope is empty for that reason. The
    /// store forgets it with the first write, and 30 days after the sweep.
    ///
    /// # Errors
    /// Storage errors.
    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError>;

    /// The time by which this store judges expiry, for other crates that keep data for a
    /// time. A store without one of its own counts from now on.
    fn host_time(&self) -> HostTime {
        HostTime::default()
    }

    /// Removes scopes that expired by `now`, in small steps between which other
    /// writes go on. Never removes a scope that any process used since.
    /// Callers take `now` from [`HostTime::passed`], which no jump of the clock moves.
    ///
    /// # Errors
    /// `Busy` where another process writes for long; storage errors.
    async fn sweep(&self, now: SystemTime) -> Result<SweepTotals, StateError>;
}
