//! Makes clients: each with an endpoint of its own, for the plugins that it may use.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use wharf_core::{ContextRules, HttpLimits, Quota, TenantId, service::AllowedPlugins};

use super::{
    HttpClient, HttpServices,
    client::{Client, Shown},
    protocol::{ProtocolClient, ProtocolEndpoint},
};

/// See the module.
pub(super) struct Making {
    services: HttpServices,
    pub(super) limits: HttpLimits,
    readers: Arc<Quota>,
    stopping: CancellationToken,
    killed: CancellationToken,
}

impl Making {
    pub(super) fn new(
        services: HttpServices,
        limits: HttpLimits,
        readers: Arc<Quota>,
        stopping: CancellationToken,
        killed: CancellationToken,
    ) -> Self {
        Self { services, limits, readers, stopping, killed }
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
    pub(super) fn endpoint(
        &self,
        rules: &ContextRules,
        plugins: Option<&AllowedPlugins>,
        calls: Option<u64>,
    ) -> Box<dyn ProtocolEndpoint> {
        self.services.protocol.endpoint(ProtocolClient {
            plugins: plugins.cloned(),
            rules: rules.clone(),
            calls,
            readers: Arc::clone(&self.readers),
            stopping: self.stopping.clone(),
            killed: self.killed.clone(),
        })
    }
}
