//! Makes clients: each with an endpoint of its own, for the plugins that it may use.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use wharf_core::{Channel, ContextRules, HttpLimits, Quota, TenantId, service::AllowedPlugins, tool::ToolSelection};

use super::{
    allowed::allowed_plugins,
    client::{ClientAccount, ClientSettings, HttpClient},
};
use crate::{
    protocol::{ProtocolClient, ProtocolEndpoint},
    settings::HttpServices,
};

/// Makes the clients of one server.
pub(crate) struct ClientFactory {
    services: HttpServices,
    limits: HttpLimits,
    readers: Arc<Quota>,
    stopping: CancellationToken,
    killed: CancellationToken,
}

impl ClientFactory {
    pub(crate) fn new(
        services: HttpServices,
        limits: HttpLimits,
        readers: Arc<Quota>,
        stopping: CancellationToken,
        killed: CancellationToken,
    ) -> Self {
        Self { services, limits, readers, stopping, killed }
    }

    /// A client that shows a token of the operator's.
    pub(crate) fn with_token(&self, client: HttpClient) -> ClientAccount {
        let tenant = client.tenant.clone().unwrap_or_else(|| self.services.rules.tenant.clone());
        self.client(client.into(), tenant)
    }

    /// The client of a tenant whose tokens an authorization server issues. It reads no metrics
    /// and connects no front ends.
    pub(crate) fn with_issued_token(
        &self,
        tenant: &TenantId,
        plugins: Option<&[String]>,
        requests_per_second: Option<u64>,
        calls: Option<u64>,
    ) -> ClientAccount {
        let settings = ClientSettings {
            name: tenant.to_string(),
            token: None,
            plugins: plugins.map(<[String]>::to_vec),
            tools: ToolSelection::default(),
            metrics: false,
            requests_per_second,
            calls,
            front_ends: false,
            trusted_middleware: false,
        };
        self.client(settings, tenant.clone())
    }

    fn client(&self, client: ClientSettings, tenant: TenantId) -> ClientAccount {
        let channel = if client.trusted_middleware { Channel::TrustedMiddleware } else { Channel::Open };
        let rules = ContextRules { tenant, channel, ..self.services.rules.clone() };
        let plugins = allowed_plugins(client.plugins.as_deref(), &client.tools);
        let endpoint = self.endpoint(&rules, plugins.as_ref(), client.calls);
        ClientAccount::new(client, rules, plugins, endpoint, &self.limits)
    }

    /// The endpoint of a client.
    fn endpoint(
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
