//! Makes the endpoints of clients over HTTP: each over the tools that its client may use,
//! with the places for sessions that its tenant has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use wharf_core::{ContextRules, HttpLimits, Quota, TenantId, service::AllowedPlugins};

use crate::{
    endpoint::{Ends, HttpEndpoint, Room, in_flight},
    info::ServerInfo,
    served::Served,
};

/// The endpoints of a server, which share places for what all of them do.
pub struct HttpEndpoints {
    served: Served,
    info: ServerInfo,
    limits: HttpLimits,
    calls: Arc<Quota>,
    sessions: Arc<Semaphore>,
    // Those of tenants that have a client.
    tenants: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

/// What one client is served, and within which bounds.
pub struct EndpointSettings {
    /// The plugins of which it may use anything; all where absent.
    pub plugins: Option<AllowedPlugins>,
    /// How the contexts of its requests are made.
    pub rules: ContextRules,
    /// Requests at once, lower than the limit `calls_per_client`.
    pub calls: Option<u64>,
    /// Places for requests that follow something, which other routes take, too.
    pub readers: Arc<Quota>,
    /// Ends streams that nobody waits for.
    pub stopping: CancellationToken,
    /// Ends everything.
    pub killed: CancellationToken,
}

impl HttpEndpoints {
    /// Endpoints that serve this.
    #[must_use]
    pub fn new(served: Served, info: ServerInfo, limits: HttpLimits) -> Self {
        let calls = in_flight::of_all(&limits);
        let sessions = Arc::new(Semaphore::new(in_flight::permits(limits.sessions)));
        Self { served, info, limits, calls, sessions, tenants: Mutex::default() }
    }

    /// The endpoint of a client: nothing of one is ever looked up for another.
    #[must_use]
    pub fn endpoint(&self, settings: EndpointSettings) -> HttpEndpoint {
        let EndpointSettings { plugins, rules, calls, readers, stopping, killed } = settings;
        let room = Room {
            all: Arc::clone(&self.sessions),
            tenant: self.places_of(&rules.tenant),
            idle: Duration::from_secs(self.limits.session_idle_seconds),
            most_bytes: self.limits.session_bytes,
        };
        let served = self.served.of_plugins(plugins);
        let most_calls = calls.unwrap_or(u64::MAX).min(self.limits.calls_per_client);
        let calls = in_flight::Places::new(rules.tenant.clone(), most_calls, Arc::clone(&self.calls));
        let ends = Ends { stopping, killed, heartbeat: Duration::from_millis(self.limits.heartbeat_milliseconds) };
        HttpEndpoint::new(served, rules, self.info.clone(), room, calls, readers, ends)
    }

    fn places_of(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = tenants.get(tenant).and_then(Weak::upgrade) {
            return places;
        }
        tenants.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(in_flight::permits(self.limits.sessions_per_tenant)));
        tenants.insert(tenant.clone(), Arc::downgrade(&places));
        places
    }
}
