//! Makes endpoints: each over the tools that its client may use, with the sessions that its
//! tenant may open.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use wharf_core::{
    HttpLimits, Quota, TenantId,
    handle::HandleMint,
    service::{ProtocolClient, SessionShelf},
};

use super::{
    client_shelf::ClientShelf,
    permits::{self, AnswerLimits, SessionLimits},
    service::{EndpointLifetime, EndpointLimits, HttpEndpoint},
};
use crate::{info::ServerInfo, rounds::StateKeys, served::Served};

/// The endpoints of a server, which share the limits of all of them.
pub struct HttpEndpoints {
    served: Served,
    info: ServerInfo,
    limits: HttpLimits,
    answers: Arc<Quota>,
    sessions: Arc<Semaphore>,
    /// Name sessions.
    handles: HandleMint,
    /// Has them outlive this host.
    shelf: Option<Arc<dyn SessionShelf>>,
    // Those of tenants that have a client.
    tenants: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

impl HttpEndpoints {
    /// Endpoints that serve this.
    #[must_use]
    pub fn new(served: Served, info: ServerInfo, limits: HttpLimits) -> Self {
        let (answers, sessions) = (permits::answers_of_all(&limits), permits::semaphore(limits.sessions));
        let handles = HandleMint::default();
        Self { served, info, limits, answers, sessions, handles, shelf: None, tenants: Mutex::default() }
    }

    /// Names sessions so that other hosts know whose they are.
    #[must_use]
    pub fn with_handles(self, handles: HandleMint) -> Self {
        Self { handles, ..self }
    }

    /// Seals what clients carry from one round of input to the next with keys that other hosts
    /// have, too, so that a client may answer at any of them.
    #[must_use]
    pub fn with_state_keys(self, keys: StateKeys) -> Self {
        Self { served: self.served.with_state_keys(keys), ..self }
    }

    /// Writes sessions down, so that another host goes on with them once this one has ended.
    #[must_use]
    pub fn with_session_shelf(self, shelf: Arc<dyn SessionShelf>) -> Self {
        Self { shelf: Some(shelf), ..self }
    }

    /// The endpoint of a client: nothing of one is ever looked up for another.
    #[must_use]
    pub fn endpoint(&self, client: ProtocolClient) -> HttpEndpoint {
        let ProtocolClient { client, plugins, rules, calls, readers, stopping, killed } = client;
        let sessions = SessionLimits {
            of_all: Arc::clone(&self.sessions),
            of_tenant: self.sessions_of(&rules.tenant),
            idle: Duration::from_secs(self.limits.session_idle_seconds),
            most_bytes: self.limits.session_bytes,
        };
        let served = self.served.of_plugins(plugins);
        let most = calls.unwrap_or(u64::MAX).min(self.limits.calls_per_client);
        let answers = AnswerLimits::new(rules.tenant.clone(), most, Arc::clone(&self.answers));
        let heartbeat = Duration::from_millis(self.limits.heartbeat_milliseconds);
        let shelf = self.shelf.clone().map(|shelf| ClientShelf::new(shelf, &rules.tenant, &client));
        let limits = EndpointLimits { answers, sessions, readers, handles: self.handles.clone(), shelf };
        let lifetime = EndpointLifetime { stopping, killed, heartbeat };
        HttpEndpoint::new(served, rules, self.info.clone(), limits, lifetime)
    }

    fn sessions_of(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock();
        if let Some(sessions) = tenants.get(tenant).and_then(Weak::upgrade) {
            return sessions;
        }
        tenants.retain(|_, sessions| sessions.strong_count() > 0);
        let sessions = permits::semaphore(self.limits.sessions_per_tenant);
        tenants.insert(tenant.clone(), Arc::downgrade(&sessions));
        sessions
    }
}
