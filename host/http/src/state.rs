//! What every request needs of the server.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use axum::body::Bytes;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Error, FrontEndService, Quota, RequestMemory, SessionId, Share, TenantId, WebPageService, audit::RefusalSink,
    service::MetricsService,
};

use crate::{
    access::{client::Client, issued::Issued},
    failure::Failure,
    settings::{HttpServices, HttpSettings},
};

/// What every request needs.
pub(crate) struct Shared {
    pub(crate) services: HttpServices,
    pub(crate) clients: Vec<Arc<Client>>,
    /// Those whose tokens somebody else issues, where somebody does.
    pub(crate) issued: Option<Issued>,
    pub(crate) settings: HttpSettings,
    pub(crate) metrics: Option<Arc<dyn MetricsService>>,
    pub(crate) front_ends: Option<Arc<dyn FrontEndService>>,
    /// Who hears of requests that were refused for want of a token.
    pub(crate) refusals: Option<Arc<dyn RefusalSink>>,
    pub(crate) pages: Option<Arc<dyn WebPageService>>,
    pub(crate) readers: Arc<Quota>,
    /// What the JSON of requests takes.
    pub(crate) memory: RequestMemory,
    /// The description of the routes, as JSON.
    pub(crate) description: Bytes,
    /// Somebody was told already that requests name no session.
    pub(crate) warned_of_default: AtomicBool,
    /// The host stops: who waits is answered now.
    pub(crate) stopping: CancellationToken,
}

impl Shared {
    /// A place among those that follow or wait.
    pub(crate) fn reader(&self, tenant: &TenantId) -> Result<Share, Failure> {
        // Some of them are of no session.
        let taken = self.readers.take(tenant, &SessionId::default_session(), 1);
        taken.map_err(|full| Error::from(full).into())
    }

    /// How long a request may wait.
    pub(crate) fn patience(&self, wait_ms: u64) -> Duration {
        Duration::from_millis(wait_ms.min(self.settings.limits.wait_milliseconds))
    }

    /// How long a stream may be silent.
    pub(crate) fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.settings.limits.heartbeat_milliseconds)
    }
}
