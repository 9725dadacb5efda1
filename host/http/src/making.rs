//! Makes clients: each with an endpoint of its own, over the tools that its tenant may
//! see.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use wharf_core::{ContextRules, HttpLimits, Quota, TenantId};

use super::{
    HttpClient, HttpServices,
    allowed::Allowed,
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
        allowed: Option<&Allowed>,
        calls: Option<u64>,
    ) -> Box<dyn ProtocolEndpoint> {
        let services = &self.services;
        let tools = services.tools.of_tenant(&rules.tenant).unwrap_or_else(|| Arc::clone(&services.tools));
        services.protocol.endpoint(ProtocolClient {
            tools: allowed.map_or_else(|| Arc::clone(&tools), |allowed| allowed.tools(Arc::clone(&tools))),
            may_use: allowed.map(Allowed::may_use),
            rules: rules.clone(),
            calls,
            readers: Arc::clone(&self.readers),
            stopping: self.stopping.clone(),
            killed: self.killed.clone(),
        })
    }
}
