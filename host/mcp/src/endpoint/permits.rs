//! Permits for what clients of the protocol take over HTTP: requests that are being answered,
//! and sessions of the older era.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wharf_core::{
    Code, Error, HttpLimits, Quota, SessionId, Share, TenantId,
    quota::{Bounds, Level},
};

use super::refusal::EndpointRefusal;
use crate::request_permit::AnswerHold;

/// How many requests of one client may be answered at once, among those of all clients.
pub(super) struct AnswerLimits {
    tenant: TenantId,
    of_client: Arc<Semaphore>,
    most: u64,
    of_all: Arc<Quota>,
}

/// A place among the requests that are being answered.
pub(super) struct AnswerPermit {
    _of_client: OwnedSemaphorePermit,
    _of_all: Share,
    /// The memory of the answer, until it is written as text.
    pub(super) unwritten: AnswerHold,
}

/// How many requests of all clients may be answered at once.
pub(super) fn answers_of_all(limits: &HttpLimits) -> Arc<Quota> {
    Quota::new(Bounds {
        resource: "requests of the protocol",
        section: "[http.limits]",
        session: None,
        tenant: ("calls_per_tenant", limits.calls_per_tenant),
        host: ("calls", limits.calls),
    })
}

impl AnswerLimits {
    /// So many at once for a client of this tenant, among those of all.
    pub(super) fn new(tenant: TenantId, most: u64, of_all: Arc<Quota>) -> Self {
        Self { tenant, of_client: semaphore(most), most, of_all }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// Where the client, its tenant or the host has none.
    pub(super) fn take(&self) -> Result<AnswerPermit, EndpointRefusal> {
        let of_client = Arc::clone(&self.of_client).try_acquire_owned().map_err(|_| {
            let told = format!(
                "{} requests with this token are being answered (limit `calls_per_client`); try again later",
                self.most
            );
            Error::retryable(Code::Limit, told)
        })?;
        let of_all = self.of_all.take(&self.tenant, &SessionId::default_session(), 1);
        let of_all = of_all.map_err(|full| match full.level {
            Level::Host => EndpointRefusal::Busy(full.to_string()),
            Level::Session | Level::Tenant => full.into(),
        })?;
        Ok(AnswerPermit { _of_client: of_client, _of_all: of_all, unwritten: AnswerHold::default() })
    }
}

/// How many sessions a client may open, and what each of them may keep.
pub(super) struct SessionLimits {
    pub(super) of_all: Arc<Semaphore>,
    pub(super) of_tenant: Arc<Semaphore>,
    /// How long one may be unused.
    pub(super) idle: Duration,
    /// How much one keeps of what its client has not read.
    pub(super) most_bytes: u64,
}

/// A place among the sessions that are open.
pub(super) struct SessionPermit {
    _of_tenant: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl SessionLimits {
    /// Takes a place.
    ///
    /// # Errors
    /// The name of the limit that is reached.
    pub(super) fn take(&self) -> Result<SessionPermit, &'static str> {
        let of_tenant = Arc::clone(&self.of_tenant).try_acquire_owned().map_err(|_| "sessions_per_tenant")?;
        let of_all = Arc::clone(&self.of_all).try_acquire_owned().map_err(|_| "sessions")?;
        Ok(SessionPermit { _of_tenant: of_tenant, _of_all: of_all })
    }
}

/// As many permits as a limit says.
pub(super) fn semaphore(limit: u64) -> Arc<Semaphore> {
    let permits = usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
    Arc::new(Semaphore::new(permits))
}
