//! Counts the requests in flight, of all tenants and of each.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use wharf_core::{Code, Error, RequestLimits, TenantId};

use crate::connector::{Connector, NameOverrides};

/// The requests in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlightRequests {
    // Held for a look-up. A tenant without requests has no entry.
    tenants: Mutex<HashMap<TenantId, TenantRequests>>,
}

#[derive(Debug)]
struct TenantRequests {
    requests: u64,
    connector: Connector,
}

/// The permit for one request, which counts until the permit is dropped.
#[derive(Debug)]
pub struct InFlightPermit {
    in_flight: Arc<InFlightRequests>,
    tenant: TenantId,
    pub(crate) connector: Connector,
}

impl InFlightRequests {
    pub(crate) fn take(
        self: &Arc<Self>,
        tenant: &TenantId,
        limits: &RequestLimits,
        names: Option<&NameOverrides>,
    ) -> Result<InFlightPermit, Error> {
        let mut tenants = self.tenants.lock();
        let all: u64 = tenants.values().map(|tenant| tenant.requests).sum();
        let own = tenants.get(tenant).map_or(0, |tenant| tenant.requests);
        for (name, limit, present) in
            [("in_flight", limits.in_flight, all), ("in_flight_per_tenant", limits.in_flight_per_tenant, own)]
        {
            if present >= limit {
                let message = format!("{limit} requests are in flight already (limit `{name}` of [request.limits])");
                return Err(Error::retryable(Code::Limit, message));
            }
        }
        let first = || TenantRequests { requests: 0, connector: Connector::new(names.cloned()) };
        let entry = tenants.entry(tenant.clone()).or_insert_with(first);
        entry.requests += 1;
        Ok(InFlightPermit { in_flight: Arc::clone(self), tenant: tenant.clone(), connector: entry.connector.clone() })
    }
}

impl Drop for InFlightPermit {
    fn drop(&mut self) {
        let mut tenants = self.in_flight.tenants.lock();
        if let Some(tenant) = tenants.get_mut(&self.tenant) {
            tenant.requests = tenant.requests.saturating_sub(1);
            if tenant.requests == 0 {
                tenants.remove(&self.tenant);
            }
        }
    }
}
