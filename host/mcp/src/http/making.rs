//! Makes clients: each with an endpoint of its own, over the tools that its tenant may
//! see, with the places for sessions that its tenant has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use wharf_core::{ContextRules, HttpLimits, TenantId};

use super::{
    HttpClient, HttpServices,
    allowed::Allowed,
    client::{Client, Shown},
    mcp,
    server::places,
};
use crate::served::Served;

/// See the module.
pub(super) struct Making {
    services: HttpServices,
    pub(super) limits: HttpLimits,
    ends: mcp::Ends,
    sessions: Arc<Semaphore>,
    // Those of tenants that have a client.
    tenants: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

impl Making {
    pub(super) fn new(
        services: HttpServices,
        limits: HttpLimits,
        stopping: &CancellationToken,
        killed: &CancellationToken,
    ) -> Self {
        let ends = mcp::Ends {
            stopping: stopping.clone(),
            killed: killed.clone(),
            heartbeat: Duration::from_millis(limits.heartbeat_milliseconds),
        };
        let sessions = Arc::new(Semaphore::new(places(limits.sessions)));
        Self { services, limits, ends, sessions, tenants: Mutex::default() }
    }

    /// A client that shows a token of the operator's.
    pub(super) fn own(&self, client: HttpClient) -> Client {
        let tenant = client.tenant.clone().unwrap_or_else(|| self.services.rules.tenant.clone());
        Client::new(client.into(), tenant, self)
    }

    /// A client whose tokens somebody else issues. It reads no metrics and connects no
    /// front ends.
    pub(super) fn issued(
        &self,
        tenant: &TenantId,
        plugins: Option<&[String]>,
        requests_per_second: Option<u64>,
        calls: Option<u64>,
    ) -> Client {
        let shown = Shown {
            name: tenant.to_string(),
            token: None,
            plugins: plugins.map(<[String]>::to_vec),
            metrics: false,
            requests_per_second,
            calls,
            front_ends: false,
            trusted_middleware: false,
        };
        Client::new(shown, tenant.clone(), self)
    }

    /// How the contexts of a tenant's requests are made.
    pub(super) fn rules(&self, tenant: TenantId) -> ContextRules {
        ContextRules { tenant, ..self.services.rules.clone() }
    }

    /// The endpoint of a client.
    pub(super) fn endpoint(&self, rules: &ContextRules, allowed: Option<&Allowed>) -> mcp::Endpoint {
        let room = mcp::Room {
            all: Arc::clone(&self.sessions),
            tenant: self.places_of(&rules.tenant),
            idle: Duration::from_secs(self.limits.session_idle_seconds),
            most_bytes: self.limits.session_bytes,
        };
        let services = &self.services;
        let tools = services.tools.of_tenant(&rules.tenant).unwrap_or_else(|| Arc::clone(&services.tools));
        let served = match allowed {
            Some(allowed) => Served::limited(allowed.tools(tools), services.offers.clone(), allowed.may_use()),
            None => Served::new(tools, services.offers.clone()),
        };
        mcp::Endpoint::new(served, rules.clone(), services.info.clone(), room, &self.ends)
    }

    fn places_of(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = tenants.get(tenant).and_then(Weak::upgrade) {
            return places;
        }
        tenants.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(places(self.limits.sessions_per_tenant)));
        tenants.insert(tenant.clone(), Arc::downgrade(&places));
        places
    }
}
