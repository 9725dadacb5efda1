//! The rules of every store, decided without looking at storage: the shape of
//! calls, quotas and ceilings, and when a use is worth recording.

use std::{collections::HashSet, time::Duration};

use wharf_core::{HostLimits, ScopeKey};

use crate::{ScopePolicy, StateChange, StateError, clock::duration_milliseconds};

/// Most bytes of a key.
pub const MAX_KEY_BYTES: usize = 512;
/// Most bytes of a value.
pub const MAX_VALUE_BYTES: usize = 1 << 20;
/// Most keys of one `get_many`.
pub const MAX_KEYS: usize = 1_000;
/// Most changes of one `apply`.
pub const MAX_CHANGES: usize = 1_000;
/// Most entries of one page of a scan.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;
/// How long after its sweep a store still knows that a scope expired.
pub const TOMBSTONE_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// The most that all scopes of a store together may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceilings {
    /// Scopes with content of one tenant.
    pub scopes_per_tenant: u64,
    /// Bytes of keys and values of one tenant.
    pub bytes_per_tenant: u64,
    /// Bytes of keys and values of all tenants.
    pub bytes: u64,
}

impl From<&HostLimits> for Ceilings {
    fn from(limits: &HostLimits) -> Self {
        Self {
            scopes_per_tenant: limits.scopes_per_tenant,
            bytes_per_tenant: limits.state_bytes_per_tenant,
            bytes: limits.state_bytes,
        }
    }
}

impl Default for Ceilings {
    fn default() -> Self {
        Self::from(&HostLimits::default())
    }
}

/// The content of one tenant, or of all tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Total {
    pub(crate) scopes: u64,
    pub(crate) bytes: u64,
}

/// The content of a scope before and after a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    pub(crate) entries_before: u64,
    pub(crate) entries_after: u64,
    pub(crate) bytes_before: u64,
    pub(crate) bytes_after: u64,
}

impl Growth {
    /// `before` after this change of one of its scopes.
    pub(crate) fn total(&self, before: Total) -> Total {
        Total {
            scopes: (before.scopes + u64::from(self.entries_after > 0))
                .saturating_sub(u64::from(self.entries_before > 0)),
            bytes: (before.bytes + self.bytes_after).saturating_sub(self.bytes_before),
        }
    }

    /// Refuses a growth beyond the quotas of the scope. Never refuses a change without
    /// growth, even where the operator lowered a quota meanwhile.
    pub(crate) fn check_quotas(&self, scope: &ScopeKey, policy: &ScopePolicy) -> Result<(), StateError> {
        if self.entries_after > self.entries_before && self.entries_after > policy.quota_entries {
            return Err(StateError::QuotaEntries {
                plugin: scope.plugin.clone(),
                used: self.entries_before,
                wanted: self.entries_after,
                quota: policy.quota_entries,
            });
        }
        if self.bytes_after > self.bytes_before && self.bytes_after > policy.quota_bytes {
            return Err(StateError::QuotaBytes {
                plugin: scope.plugin.clone(),
                used: self.bytes_before,
                wanted: self.bytes_after,
                quota: policy.quota_bytes,
            });
        }
        Ok(())
    }

    /// Refuses a growth beyond the ceilings of the tenant or of the whole store.
    pub(crate) fn check_ceilings(&self, ceilings: &Ceilings, tenant: Total, host: Total) -> Result<(), StateError> {
        let (tenant_after, host_after) = (self.total(tenant), self.total(host));
        if tenant_after.scopes > tenant.scopes && tenant_after.scopes > ceilings.scopes_per_tenant {
            return Err(StateError::TenantScopes { ceiling: ceilings.scopes_per_tenant });
        }
        if tenant_after.bytes > tenant.bytes && tenant_after.bytes > ceilings.bytes_per_tenant {
            return Err(StateError::TenantBytes {
                used: tenant.bytes,
                wanted: tenant_after.bytes,
                ceiling: ceilings.bytes_per_tenant,
            });
        }
        if host_after.bytes > host.bytes && host_after.bytes > ceilings.bytes {
            return Err(StateError::HostBytes { ceiling: ceilings.bytes });
        }
        Ok(())
    }
}

/// Refuses too many keys, and illegal ones.
///
/// # Errors
/// `TooManyKeys`, `IllegalKey`.
pub fn check_keys(keys: &[String]) -> Result<(), StateError> {
    if keys.len() > MAX_KEYS {
        return Err(StateError::TooManyKeys { given: keys.len() });
    }
    keys.iter().try_for_each(|key| check_key(key))
}

/// Refuses changes that no store makes, whatever it holds.
///
/// # Errors
/// `TooManyChanges`, `IllegalKey`, `ValueTooLarge`, `DuplicateKey`.
pub fn check_changes(changes: &[StateChange]) -> Result<(), StateError> {
    if changes.len() > MAX_CHANGES {
        return Err(StateError::TooManyChanges { given: changes.len() });
    }
    let mut seen = HashSet::with_capacity(changes.len());
    for StateChange { key, value, .. } in changes {
        check_entry(key, value.as_deref().unwrap_or_default())?;
        if !seen.insert(key.as_str()) {
            return Err(StateError::DuplicateKey { key: key.clone() });
        }
    }
    Ok(())
}

pub(crate) fn check_entry(key: &str, value: &[u8]) -> Result<(), StateError> {
    check_key(key)?;
    if value.len() > MAX_VALUE_BYTES {
        return Err(StateError::ValueTooLarge { key: key.to_owned(), length: value.len() });
    }
    Ok(())
}

/// A prefix, and `after`, may be empty, which a key may not.
pub(crate) fn check_bound(bound: &str) -> Result<(), StateError> {
    if bound.is_empty() { Ok(()) } else { check_key(bound) }
}

pub(crate) fn check_key(key: &str) -> Result<(), StateError> {
    if (1..=MAX_KEY_BYTES).contains(&key.len()) {
        Ok(())
    } else {
        // A hostile key may be megabytes long; its beginning identifies it.
        Err(StateError::IllegalKey { shown: key.chars().take(64).collect(), length: key.len() })
    }
}

/// What an entry counts against the quotas.
#[must_use]
pub fn entry_bytes(key: &str, value: &[u8]) -> u64 {
    (key.len() + value.len()) as u64
}

/// When a scope that is used at `now` expires, in milliseconds since 1970.
pub(crate) fn expires_after_use(policy: &ScopePolicy, now: i64) -> Option<i64> {
    policy.idle_expiry.map(|idle| now + duration_milliseconds(idle))
}

/// Whether the stored expiry is so far from the expiry after a use at `now` that
/// it must be written: further than one `part` of the idle time.
pub(crate) fn worth_remembering(policy: &ScopePolicy, stored: Option<i64>, now: i64, part: i64) -> bool {
    match (policy.idle_expiry, stored) {
        (None, None) => false,
        (None, Some(_)) | (Some(_), None) => true,
        (Some(idle), Some(stored)) => {
            let idle = duration_milliseconds(idle);
            (now + idle - stored).abs() > idle / part
        }
    }
}

/// A read extends the life of its scope once a tenth of the idle time passed:
/// most reads then cost no write.
const READ_PART: i64 = 10;

/// A use of a scope that its stored expiry does not know yet.
#[derive(Debug, Clone, Copy)]
pub struct ScopeUse {
    /// The number of its content.
    pub scope: i64,
    /// The expiry that the reader saw.
    pub seen: Option<i64>,
    /// The expiry that the scope is to have.
    pub expires: Option<i64>,
}

impl ScopeUse {
    /// That of a read at `stamp`, where it is worth recording.
    #[must_use]
    pub fn of_read(policy: &ScopePolicy, scope: i64, seen: Option<i64>, stamp: i64) -> Option<Self> {
        worth_remembering(policy, seen, stamp, READ_PART).then(|| Self {
            scope,
            seen,
            expires: expires_after_use(policy, stamp),
        })
    }
}
