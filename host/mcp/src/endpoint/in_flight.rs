//! Places for requests that are being answered: of one client, and of all.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wharf_core::{
    Code, Error, Quota, SessionId, Share, TenantId,
    quota::{Bounds, Level},
};

use super::refusal::EndpointRefusal;

/// The places of one client.
pub(crate) struct Places {
    tenant: TenantId,
    of_client: Arc<Semaphore>,
    most: u64,
    of_all: Arc<Quota>,
}

/// A place among the requests of the protocol that are being answered.
pub(super) struct InFlight {
    _of_client: OwnedSemaphorePermit,
    _of_all: Share,
}

/// The places of all clients.
pub(crate) fn of_all(limits: &wharf_core::HttpLimits) -> Arc<Quota> {
    Quota::new(Bounds {
        resource: "requests of the protocol",
        section: "[http.limits]",
        session: None,
        tenant: ("calls_per_tenant", limits.calls_per_tenant),
        host: ("calls", limits.calls),
    })
}

impl Places {
    /// So many places for a client of this tenant, among those of all.
    pub(crate) fn new(tenant: TenantId, most: u64, of_all: Arc<Quota>) -> Self {
        Self { tenant, of_client: Arc::new(Semaphore::new(permits(most))), most, of_all }
    }

    /// Takes a place for a request of the protocol.
    pub(super) fn begin(&self) -> Result<InFlight, EndpointRefusal> {
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
        Ok(InFlight { _of_client: of_client, _of_all: of_all })
    }
}

/// As many permits of a semaphore as a limit says.
pub(crate) fn permits(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS)
}
