//! Makes clients: each with an endpoint of its own, for the plugins that it may use.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use wharf_core::{
    Channel, ContextRules, HttpLimits, Quota, TenantId, Token,
    service::{AllowedPlugins, ClientRights, PassedClient},
};

use super::{
    allowed::allowed_plugins,
    client::{ClientAccount, HttpClient},
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
        let tenant = self.tenant_of(&client).clone();
        self.client(client.name, Some(client.token), tenant, client.rights)
    }

    /// On whose behalf the calls of a client are.
    pub(crate) fn tenant_of<'c>(&'c self, client: &'c HttpClient) -> &'c TenantId {
        client.tenant.as_ref().unwrap_or(&self.services.rules.tenant)
    }

    /// The client of a tenant whose tokens an authorization server issues.
    pub(crate) fn with_issued_token(&self, tenant: &TenantId, rights: &ClientRights) -> ClientAccount {
        self.client(tenant.to_string(), None, tenant.clone(), rights.clone())
    }

    fn client(&self, name: String, token: Option<Token>, tenant: TenantId, rights: ClientRights) -> ClientAccount {
        let channel = if rights.trusted_middleware { Channel::TrustedMiddleware } else { Channel::Open };
        let rules = ContextRules { tenant, channel, ..self.services.rules.clone() };
        let plugins = allowed_plugins(rights.plugins.as_deref(), &rights.tools);
        let client = match token {
            Some(_) => PassedClient::Named(name.clone()),
            None => PassedClient::Issued(rules.tenant.clone()),
        };
        // It ends with the server, too.
        let ended = self.killed.child_token();
        let endpoint = self.endpoint(client, &rules, plugins.as_ref(), rights.calls, ended.clone());
        ClientAccount::new((name, token), rights, rules, plugins, (endpoint, ended), &self.limits)
    }

    /// The endpoint of a client.
    fn endpoint(
        &self,
        client: PassedClient,
        rules: &ContextRules,
        plugins: Option<&AllowedPlugins>,
        calls: Option<u64>,
        killed: CancellationToken,
    ) -> Box<dyn ProtocolEndpoint> {
        self.services.protocol.endpoint(ProtocolClient {
            client,
            plugins: plugins.cloned(),
            rules: rules.clone(),
            calls,
            readers: Arc::clone(&self.readers),
            stopping: self.stopping.clone(),
            killed,
        })
    }
}
