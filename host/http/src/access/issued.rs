//! Clients whose tokens an authorization server issues. Each tenant that it vouches for is one
//! client.

use std::{collections::HashMap, sync::Arc, time::Instant};

use axum::http::StatusCode;
use parking_lot::Mutex;
use wharf_core::{Code, Error, TenantId};

use super::{
    client::ClientAccount,
    factory::ClientFactory,
    protected_resource::{ProtectedResource, TokenRefused, VerifiedToken},
};
use crate::{failure::HttpFailure, listener::client_certificate::ConnectionCertificate};

/// Longest token that is looked at.
const LONGEST: usize = 16 << 10;
/// Clients that are remembered at once; one that has nothing open is forgotten for
/// another one.
const MOST_CLIENTS: usize = 4_096;

/// The clients whose tokens an authorization server issues.
pub(crate) struct IssuedClients {
    resource: ProtectedResource,
    factory: Arc<ClientFactory>,
    // A blocking lock: held for a look-up.
    clients: Mutex<HashMap<TenantId, (Arc<ClientAccount>, Instant)>>,
}

impl IssuedClients {
    pub(crate) fn new(resource: ProtectedResource, factory: Arc<ClientFactory>) -> Self {
        Self { resource, factory, clients: Mutex::default() }
    }

    /// The host, as their tokens name it.
    pub(crate) fn resource(&self) -> &ProtectedResource {
        &self.resource
    }

    /// Whether this token held a moment ago.
    pub(crate) fn has_held(&self, token: &[u8]) -> bool {
        str::from_utf8(token).is_ok_and(|token| self.resource.verifier.has_held(token))
    }

    /// The client that shows this token on a connection of this certificate, and the token's subject; or why there is
    /// none.
    pub(crate) async fn client(
        &self,
        token: Option<&[u8]>,
        certificate: &ConnectionCertificate,
    ) -> Result<(Arc<ClientAccount>, Option<String>), HttpFailure> {
        let told = "send a token of this host, or of its authorization server: `Authorization: Bearer TOKEN`";
        let unauthenticated = || HttpFailure::new(StatusCode::UNAUTHORIZED, Code::Denied, told);
        let Some(token) = token.filter(|token| token.len() <= LONGEST).and_then(|token| str::from_utf8(token).ok())
        else {
            return Err(unauthenticated().challenged(self.resource.challenge(None)));
        };
        // A token of the operator's that is wrong is not worth asking about.
        if !self.resource.verifier.takes_any_text() && token.split('.').count() != 3 {
            let refused = TokenRefused::Invalid("it is none".to_owned());
            return Err(unauthenticated().challenged(self.resource.challenge(Some(&refused))));
        }
        let refused = match self.resource.verifier.verify(token, certificate).await {
            Ok(VerifiedToken { tenant, subject }) => return Ok((self.of_tenant(&tenant)?, subject)),
            Err(refused) => refused,
        };
        let status = match refused {
            TokenRefused::Invalid(_) => StatusCode::UNAUTHORIZED,
            TokenRefused::Scope(_) => StatusCode::FORBIDDEN,
            TokenRefused::Unavailable | TokenRefused::Unconfirmed => {
                return Err(Error::retryable(Code::Unavailable, refused.to_string()).into());
            }
        };
        let challenge = self.resource.challenge(Some(&refused));
        Err(HttpFailure::new(status, Code::Denied, refused.to_string()).challenged(challenge))
    }

    /// The client of a tenant: the one that there is, or a new one.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> Result<Arc<ClientAccount>, HttpFailure> {
        let now = Instant::now();
        let mut clients = self.clients.lock();
        if let Some((client, used)) = clients.get_mut(tenant) {
            *used = now;
            return Ok(Arc::clone(client));
        }
        if clients.len() >= MOST_CLIENTS {
            let unused = clients.iter().filter(|(_, (client, _))| Arc::strong_count(client) == 1 && client.is_unused());
            let Some(unused) = unused.min_by_key(|(_, (_, used))| *used).map(|(tenant, _)| tenant.clone()) else {
                return Err(HttpFailure::busy("the host serves as many clients as it may; try again later"));
            };
            clients.remove(&unused);
        }
        let client = Arc::new(self.factory.with_issued_token(tenant, &self.resource.rights));
        clients.insert(tenant.clone(), (Arc::clone(&client), now));
        Ok(client)
    }
}
