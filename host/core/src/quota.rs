//! Shares of one resource: how much of it each session, each tenant and the
//! host as a whole use, and what they may use at most.
//!
//! A client names its sessions as it likes, so a limit by session alone bounds
//! nothing. A crate that owns a resource has one [`Quota`] for it and keeps a
//! [`Share`] beside each thing that uses some; the share returns what it holds
//! when it is dropped. This file never decides what makes room for what.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};

use crate::{Code, Error, SessionId, TenantId};

/// One limit: its name in the configuration, and its value.
pub type Bound = (&'static str, u64);

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// That of the session. Room can be made within the session.
    Session,
    /// That of the tenant. Room can be made within the tenant.
    Tenant,
    /// That of the host. Room can be made within the tenant that asks, at no other tenant's cost.
    Host,
}

/// The limits of one resource, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What it is, in the plural: `terminals`.
    pub resource: &'static str,
    /// Where the limits are set: `[terminal.limits]`.
    pub section: &'static str,
    /// Of one session; none where a session has no limit of its own.
    pub session: Option<Bound>,
    /// Of one tenant.
    pub tenant: Bound,
    /// Of all tenants together, each of which counts with no more than its own limit.
    pub host: Bound,
}

/// A share that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} {resource} are in use by {}, and that is the limit (`{}` of {section})", .bound.1, .level.holder(), .bound.0)]
pub struct QuotaFull {
    /// Whose limit it is.
    pub level: Level,
    /// Its name and value.
    pub bound: Bound,
    resource: &'static str,
    section: &'static str,
}

impl Level {
    fn holder(self) -> &'static str {
        match self {
            Self::Session => "this session",
            Self::Tenant => "this tenant",
            Self::Host => "all tenants together",
        }
    }
}

impl QuotaFull {
    /// The rule that would be broken, in words: whose it is, what it allows, its name. True
    /// whether it is full or what was asked for is more than what is left.
    #[must_use]
    pub fn rule(&self) -> String {
        let Self { level, bound: (name, most), resource, section } = self;
        format!("{} may use {most} {resource} at most (`{name}` of {section})", level.holder())
    }
}

impl From<QuotaFull> for Error {
    fn from(full: QuotaFull) -> Self {
        Self::retryable(Code::Limit, full.to_string())
    }
}

/// The use of one resource by all.
#[derive(Debug)]
pub struct Quota {
    bounds: Bounds,
    // Held for a look-up. Tenants and sessions that use nothing have no entry.
    ledger: Mutex<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    used: u64,
    /// The same, of each tenant no more than it may use: what one tenant has beyond its
    /// own limit, recorded after the fact, is at no other tenant's cost.
    counted: u64,
    tenants: HashMap<TenantId, TenantLedger>,
}

#[derive(Debug, Default)]
struct TenantLedger {
    used: u64,
    sessions: HashMap<SessionId, u64>,
}

/// What one thing uses. Dropping it gives all of it back.
#[derive(Debug)]
pub struct Share {
    quota: Arc<Quota>,
    tenant: TenantId,
    session: SessionId,
    amount: u64,
}

impl Quota {
    /// Nothing is in use.
    #[must_use]
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { bounds, ledger: Mutex::default() })
    }

    /// Takes `amount` for a session, at once or not at all.
    ///
    /// # Errors
    /// The narrowest limit that it would break; nothing is taken then.
    pub fn take(self: &Arc<Self>, tenant: &TenantId, session: &SessionId, amount: u64) -> Result<Share, QuotaFull> {
        let mut share = self.open(tenant, session);
        share.grow(amount)?;
        Ok(share)
    }

    /// A share of nothing, whatever the limits say. It can grow.
    #[must_use]
    pub fn open(self: &Arc<Self>, tenant: &TenantId, session: &SessionId) -> Share {
        Share { quota: Arc::clone(self), tenant: tenant.clone(), session: session.clone(), amount: 0 }
    }

    /// Takes `amount` that is in use already, whatever the limits say; see
    /// [`Share::record`].
    #[must_use]
    pub fn record(self: &Arc<Self>, tenant: &TenantId, session: &SessionId, amount: u64) -> Share {
        let mut share = self.open(tenant, session);
        share.record(amount);
        share
    }

    /// What all tenants use together.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().used
    }

    /// What one tenant uses.
    #[must_use]
    pub fn used_by_tenant(&self, tenant: &TenantId) -> u64 {
        self.lock().tenants.get(tenant).map_or(0, |tenant| tenant.used)
    }

    /// What one session uses.
    #[must_use]
    pub fn used_by_session(&self, tenant: &TenantId, session: &SessionId) -> u64 {
        self.lock().tenants.get(tenant).and_then(|tenant| tenant.sessions.get(session)).copied().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock()
    }
}

impl Share {
    /// What it holds.
    #[must_use]
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Takes `more`, at once or not at all.
    ///
    /// # Errors
    /// The narrowest limit that it would break; it holds what it held then.
    pub fn grow(&mut self, more: u64) -> Result<(), QuotaFull> {
        let Bounds { resource, section, session, tenant, host } = self.quota.bounds;
        let mut ledger = self.quota.lock();
        let own = ledger.tenants.get(&self.tenant);
        let of_session = own.and_then(|own| own.sessions.get(&self.session)).copied().unwrap_or(0);
        let levels = [
            session.map(|bound| (Level::Session, bound, of_session)),
            Some((Level::Tenant, tenant, own.map_or(0, |own| own.used))),
            Some((Level::Host, host, ledger.counted)),
        ];
        for (level, bound, used) in levels.into_iter().flatten() {
            if used.saturating_add(more) > bound.1 {
                return Err(QuotaFull { level, bound, resource, section });
            }
        }
        if more > 0 {
            ledger.add(&self.tenant, &self.session, more, tenant.1);
            self.amount += more;
        }
        Ok(())
    }

    /// Records `more` that is in use already, whatever the limits say: bytes
    /// that somebody else has written, for example. Later shares find less room.
    pub fn record(&mut self, more: u64) {
        if more > 0 {
            let of_tenant = self.quota.bounds.tenant.1;
            self.quota.lock().add(&self.tenant, &self.session, more, of_tenant);
            self.amount = self.amount.saturating_add(more);
        }
    }

    /// Gives back `less`, or all that it holds where that is less.
    pub fn shrink(&mut self, less: u64) {
        let less = less.min(self.amount);
        if less == 0 {
            return;
        }
        self.amount -= less;
        let of_tenant = self.quota.bounds.tenant.1;
        let mut guard = self.quota.lock();
        let ledger = &mut *guard;
        ledger.used = ledger.used.saturating_sub(less);
        let Some(own) = ledger.tenants.get_mut(&self.tenant) else { return };
        let before = own.used.min(of_tenant);
        own.used = own.used.saturating_sub(less);
        ledger.counted = ledger.counted.saturating_sub(before - own.used.min(of_tenant));
        if let Some(of_session) = own.sessions.get_mut(&self.session) {
            *of_session = of_session.saturating_sub(less);
            if *of_session == 0 {
                own.sessions.remove(&self.session);
            }
        }
        if own.used == 0 {
            ledger.tenants.remove(&self.tenant);
        }
    }
}

impl Ledger {
    /// `of_tenant` is what a tenant may use.
    fn add(&mut self, tenant: &TenantId, session: &SessionId, more: u64, of_tenant: u64) {
        self.used = self.used.saturating_add(more);
        let own = self.tenants.entry(tenant.clone()).or_default();
        let before = own.used.min(of_tenant);
        own.used = own.used.saturating_add(more);
        self.counted = self.counted.saturating_add(own.used.min(of_tenant) - before);
        let of_session = own.sessions.entry(session.clone()).or_default();
        *of_session = of_session.saturating_add(more);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota() -> Arc<Quota> {
        Quota::new(Bounds {
            resource: "things",
            section: "[test.limits]",
            session: Some(("things_per_session", 2)),
            tenant: ("things_per_tenant", 3),
            host: ("things", 4),
        })
    }

    fn take(quota: &Arc<Quota>, tenant: &str, session: &str, amount: u64) -> Result<Share, QuotaFull> {
        quota.take(&tenant.parse().expect("legal"), &session.parse().expect("legal"), amount)
    }

    #[test]
    fn the_narrowest_limit_refuses_first_and_says_its_name() {
        let quota = quota();
        let _first = take(&quota, "a", "s", 2).expect("fits");
        assert_eq!(take(&quota, "a", "s", 1).expect_err("full").level, Level::Session);
        let _second = take(&quota, "a", "t", 1).expect("fits");
        let full = take(&quota, "a", "u", 1).expect_err("full");
        assert_eq!(full.level, Level::Tenant);
        assert_eq!(
            Error::from(full),
            Error::retryable(
                Code::Limit,
                "3 things are in use by this tenant, and that is the limit (`things_per_tenant` of [test.limits])"
                    .to_owned()
            )
        );
        let _third = take(&quota, "b", "s", 1).expect("fits");
        assert_eq!(take(&quota, "b", "s", 1).expect_err("full").level, Level::Host);
    }

    #[test]
    fn what_does_not_fit_takes_nothing_and_what_is_dropped_comes_back() {
        let quota = quota();
        let mut share = take(&quota, "a", "s", 1).expect("fits");
        assert!(share.grow(2).is_err());
        assert_eq!((share.amount(), quota.used()), (1, 1));
        share.grow(1).expect("fits");
        share.shrink(1);
        share.record(5);
        assert_eq!(quota.used_by_session(&"a".parse().expect("fits"), &"s".parse().expect("fits")), 6);
        let other = take(&quota, "b", "s", 1).expect("its tenant may have three, and counts for no more");
        assert!(take(&quota, "b", "t", 1).is_err(), "the host is full");
        drop((share, other));
        assert_eq!((quota.used(), quota.lock().tenants.len()), (0, 0));
    }

    #[test]
    fn what_a_tenant_has_beyond_its_own_limit_is_at_nobody_elses_cost() {
        let quota = quota();
        let mut over = take(&quota, "a", "s", 1).expect("fits");
        over.record(100);
        assert_eq!(quota.used(), 101);
        assert_eq!(over.grow(0).expect_err("over").level, Level::Session);
        assert_eq!(take(&quota, "a", "t", 1).expect_err("its tenant is full").level, Level::Tenant);
        let mut other = take(&quota, "b", "s", 1).expect("what a tenant leaves to others by its limit");
        other.grow(0).expect("nothing is over");
        assert_eq!(other.grow(1).expect_err("full").level, Level::Host);
        over.shrink(97);
        assert_eq!(other.grow(1).expect_err("it has four, and counts for three").level, Level::Host);
        over.shrink(2);
        other.grow(1).expect("there is room");
        drop((over, other));
        let ledger = quota.lock();
        assert_eq!((ledger.used, ledger.counted, ledger.tenants.len()), (0, 0, 0));
    }

    #[test]
    fn many_threads_never_hold_more_than_the_limit() {
        let quota = quota();
        std::thread::scope(|scope| {
            for tenant in ["a", "b", "c"] {
                let quota = &quota;
                scope.spawn(move || {
                    for _ in 0..1_000 {
                        let held: Vec<_> = (0..3).filter_map(|_| take(quota, tenant, "s", 1).ok()).collect();
                        assert!(held.len() <= 2 && quota.used() <= 4);
                    }
                });
            }
        });
        assert_eq!(quota.used(), 0);
    }
}
