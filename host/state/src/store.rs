//! The contract of a store of state: what it takes, gives and promises.

use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use wharf_core::{ScopeKey, ScopeKind, StateGrant};

use crate::{HostTime, StateError};

/// One stored entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// 1 to 512 bytes.
    pub key: String,
    /// At most 1 MiB.
    pub value: Vec<u8>,
    /// Changes with every write of this key, never returns to an earlier
    /// value even where the key or the whole scope was deleted or expired in
    /// between, and is never 0.
    pub revision: u64,
}

/// One change of [`StateStore::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// 1 to 512 bytes.
    pub key: String,
    /// The new value, at most 1 MiB; none deletes the key, which need not
    /// exist.
    pub value: Option<Vec<u8>>,
    /// The revision that the key must have now: 0 where it must be absent,
    /// none where anything will do.
    pub if_revision: Option<u64>,
}

/// A part of an ordered scan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// In the order of their keys' bytes.
    pub entries: Vec<Entry>,
    /// What to pass as `after` for the next page; none where this is the last.
    pub next: Option<String>,
}

/// How much a scope holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// What applies to the scope of one call. The caller makes it from the grant
/// of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Bytes of keys and values that the scope may hold.
    pub quota_bytes: u64,
    /// Entries that the scope may hold.
    pub quota_entries: u64,
    /// After how long without use the scope expires; none for never.
    pub idle_expiry: Option<Duration>,
}

impl Policy {
    /// What `grant` says of scopes of this kind.
    #[must_use]
    pub fn of(grant: &StateGrant, kind: ScopeKind) -> Self {
        Self {
            quota_bytes: grant.quota_bytes,
            quota_entries: grant.quota_entries,
            idle_expiry: grant.idle_expiry(kind),
        }
    }
}

/// What one [`StateStore::sweep`] removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Scopes that had expired.
    pub scopes: u64,
    /// Bytes of keys and values that they held.
    pub bytes: u64,
}

/// Keeps entries under (scope, key).
///
/// A store promises, and the suite in `contract` checks:
///
/// - Entries of one scope are never visible from another, whatever the ids.
/// - A write is kept when it returns, even where the process is killed the
///   moment after; a store that is not on disk says otherwise in its own
///   documentation. A refused write changes nothing.
/// - A call sees all or nothing of every `apply`, and everything that returned
///   before it began.
/// - A scope expires once nothing was read or written for its `idle_expiry`.
///   From that moment it reads as empty, whether swept or not, and its content
///   no longer counts against its quotas. A write is remembered to the
///   thousandth part of `idle_expiry`, a read to the tenth: a scope that is
///   only read may expire a tenth early. A read is recorded at the latest when
///   a later `apply` on the same store returns. `usage` and `expired_at` are
///   not uses.
/// - Changes that only delete, and changes after which nothing holds more than
///   before, are never refused for a quota or ceiling.
/// - Dropping a future is safe: the write then happened as a whole or not at
///   all.
///
/// The futures need a tokio runtime with its timer enabled.
#[async_trait]
pub trait StateStore: Send + Sync + 'static {
    /// The entries of at most 1,000 `keys`, in their order, none for each that
    /// is absent.
    ///
    /// # Errors
    /// `TooManyKeys`, `IllegalKey`; `ReadTooLarge` where the values together
    /// exceed `max_bytes`; storage errors.
    async fn get_many(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        keys: &[String],
        max_bytes: u64,
    ) -> Result<Vec<Option<Entry>>, StateError>;

    /// Makes all `changes` or none, and returns the new revision of each, 0
    /// for one that deletes. Waits for its turn until `until`; past it nothing
    /// is written.
    ///
    /// # Errors
    /// `TooManyChanges`, `IllegalKey`, `ValueTooLarge`, `DuplicateKey`;
    /// `Conflict` for the first key whose revision is not the expected one;
    /// the quotas and ceilings; `Busy`; storage errors.
    async fn apply(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        changes: Vec<Change>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError>;

    /// As [`StateStore::apply`], and calls `made` once the changes are made, on
    /// whichever thread knows it first: what waits for them need not wait until
    /// this call runs again. Not called where they are refused.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    async fn apply_and_tell(
        &self,
        scope: &ScopeKey,
        policy: &Policy,
        changes: Vec<Change>,
        until: Instant,
        made: Box<dyn FnOnce() + Send>,
    ) -> Result<Vec<u64>, StateError> {
        let revisions = self.apply(scope, policy, changes, until).await?;
        made();
        Ok(revisions)
    }

    /// Entries whose key starts with `prefix`, in the order of their keys'
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
        policy: &Policy,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        max_bytes: u64,
    ) -> Result<Page, StateError>;

    /// How much the scope holds.
    ///
    /// # Errors
    /// Storage errors.
    async fn usage(&self, scope: &ScopeKey) -> Result<Usage, StateError>;

    /// When the content of the scope expired, if that is why it is empty. The
    /// first write ends this; so do 30 days after the sweep.
    ///
    /// # Errors
    /// Storage errors.
    async fn expired_at(&self, scope: &ScopeKey) -> Result<Option<SystemTime>, StateError>;

    /// By which time this store judges what has expired, for whoever else keeps things
    /// for a time. A store that names none counts from now on.
    fn host_time(&self) -> HostTime {
        HostTime::default()
    }

    /// Removes what expired by `now`, in small steps between which other
    /// writes go on. Never removes what was used since, by whichever process.
    /// Callers take `now` from [`HostTime::passed`], which no jump of the clock moves.
    ///
    /// # Errors
    /// `Busy` where another process writes for long; storage errors.
    async fn sweep(&self, now: SystemTime) -> Result<Swept, StateError>;
}
