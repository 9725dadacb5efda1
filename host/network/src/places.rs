//! How many requests there are at once, of all and of each tenant.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use wharf_core::{Code, Error, RequestLimits, TenantId};

use crate::reach::{Names, Reach};

/// Who has requests in flight.
#[derive(Debug, Default)]
pub(crate) struct Places {
    // Held for a look-up. A tenant without requests has no entry.
    tenants: Mutex<HashMap<TenantId, Tenant>>,
}

#[derive(Debug)]
struct Tenant {
    requests: u64,
    reach: Reach,
}

/// The place of one request. It is free again when this is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    tenant: TenantId,
    pub(crate) reach: Reach,
}

impl Places {
    pub(crate) fn take(
        self: &Arc<Self>,
        tenant: &TenantId,
        limits: &RequestLimits,
        names: Option<&Names>,
    ) -> Result<Place, Error> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
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
        let entry =
            tenants.entry(tenant.clone()).or_insert_with(|| Tenant { requests: 0, reach: Reach::new(names.cloned()) });
        entry.requests += 1;
        Ok(Place { places: Arc::clone(self), tenant: tenant.clone(), reach: entry.reach.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut tenants = self.places.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tenant) = tenants.get_mut(&self.tenant) {
            tenant.requests = tenant.requests.saturating_sub(1);
            if tenant.requests == 0 {
                tenants.remove(&self.tenant);
            }
        }
    }
}
