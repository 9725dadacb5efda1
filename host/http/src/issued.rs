//! Tokens that somebody else issues: the host is a protected resource of OAuth 2.1
//! (RFC 9728), and whoever its authorization server lets in is a client of a tenant.
//!
//! Knows no signature: a [`TokenVerifier`] says whose a token is.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use async_trait::async_trait;
use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use wharf_core::{Code, Error, TenantId};

use super::{Failure, Shared, client::Client, making::Making};

/// Where the host says who issues its tokens. Clients are sent there by the answer to a
/// request without one.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same for the resource `/mcp`, by the rule of RFC 9728, section 3.1.
pub(super) const METADATA_OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
/// Longest token that is looked at.
const LONGEST: usize = 16 << 10;
/// Clients that are remembered at once; one that has nothing open is forgotten for
/// another one.
const MOST_CLIENTS: usize = 4_096;

/// Says whose a token is that somebody else has issued.
#[async_trait]
pub trait TokenVerifier: Send + Sync + fmt::Debug {
    /// Looks at a token that a request shows. It may take as long as asking the issuer
    /// for its keys does; dropping the future gives up.
    async fn verify(&self, token: &str) -> Result<VerifiedToken, TokenRefused>;
}

/// A token that holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// On whose behalf its requests are.
    pub tenant: TenantId,
}

/// Why a token opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRefused {
    /// It is none of this issuer for this host, or holds no more.
    #[error("this token does not hold here: {0}")]
    Invalid(String),
    /// It holds, and lacks a scope.
    #[error("this token lacks a scope; this host asks for: {0}")]
    Scope(String),
    /// Nobody can say: the keys of the issuer cannot be had.
    #[error("the keys of the issuer of this token cannot be had now; try again later")]
    Unavailable,
}

/// The host as a protected resource.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// The address of the host's `/mcp` as clients know it; tokens have to be for it.
    pub resource: String,
    /// Who issues tokens for it.
    pub authorization_servers: Vec<String>,
    /// The scopes that a token needs.
    pub scopes: Vec<String>,
    /// Patterns of the plugins that its clients may use, as of [`HttpClient::plugins`].
    ///
    /// [`HttpClient::plugins`]: super::HttpClient::plugins
    pub plugins: Option<Vec<String>>,
    /// Lower than the limit of the same name; for each tenant.
    pub requests_per_second: Option<u64>,
    /// Requests of the protocol at once, lower than the limit `calls_per_client`; for
    /// each tenant.
    pub calls: Option<u64>,
    /// Says whose a token is.
    pub verifier: Arc<dyn TokenVerifier>,
}

impl ProtectedResource {
    /// The address of what [`metadata`] answers, by the rule of RFC 9728.
    fn metadata_address(&self) -> String {
        let start = self.resource.find("://").map_or(0, |at| at + 3);
        let (origin, path) = match self.resource[start..].find('/') {
            Some(at) => self.resource.split_at(start + at),
            None => (self.resource.as_str(), ""),
        };
        format!("{origin}{METADATA}{}", path.trim_end_matches('/'))
    }

    /// How a client gets a token, or which one, for the header `WWW-Authenticate`.
    fn challenge(&self, refused: Option<&TokenRefused>) -> Option<HeaderValue> {
        let mut challenge = format!("Bearer realm=\"wharf\", resource_metadata=\"{}\"", self.metadata_address());
        let scopes = self.scopes.join(" ");
        let error = match refused {
            Some(TokenRefused::Invalid(_)) => Some("invalid_token"),
            Some(TokenRefused::Scope(_)) => Some("insufficient_scope"),
            Some(TokenRefused::Unavailable) | None => None,
        };
        if !scopes.is_empty() {
            challenge.push_str(&format!(", scope=\"{scopes}\""));
        }
        if let Some(error) = error {
            challenge.push_str(&format!(", error=\"{error}\""));
        }
        HeaderValue::from_str(&challenge).ok()
    }
}

/// The clients whose tokens somebody else issued.
pub(super) struct Issued {
    resource: ProtectedResource,
    making: Arc<Making>,
    // A lock of the standard library: held for a look-up.
    clients: Mutex<HashMap<TenantId, (Arc<Client>, Instant)>>,
}

impl Issued {
    pub(super) fn new(resource: ProtectedResource, making: Arc<Making>) -> Self {
        Self { resource, making, clients: Mutex::default() }
    }

    /// The client that shows this token, or why there is none.
    pub(super) async fn client(&self, token: Option<&[u8]>) -> Result<Arc<Client>, Failure> {
        let told = "send a token of this host, or of its authorization server: `Authorization: Bearer TOKEN`";
        let stranger = || Failure::new(StatusCode::UNAUTHORIZED, Code::Denied, told);
        let Some(token) = token.filter(|token| token.len() <= LONGEST).and_then(|token| str::from_utf8(token).ok())
        else {
            return Err(stranger().challenged(self.resource.challenge(None)));
        };
        // A token of the operator's that is wrong is not worth asking about.
        if token.split('.').count() != 3 {
            let refused = TokenRefused::Invalid("it is none".to_owned());
            return Err(stranger().challenged(self.resource.challenge(Some(&refused))));
        }
        let refused = match self.resource.verifier.verify(token).await {
            Ok(VerifiedToken { tenant }) => return self.of_tenant(&tenant),
            Err(refused) => refused,
        };
        let status = match refused {
            TokenRefused::Invalid(_) => StatusCode::UNAUTHORIZED,
            TokenRefused::Scope(_) => StatusCode::FORBIDDEN,
            TokenRefused::Unavailable => return Err(Error::retryable(Code::Unavailable, refused.to_string()).into()),
        };
        let challenge = self.resource.challenge(Some(&refused));
        Err(Failure::new(status, Code::Denied, refused.to_string()).challenged(challenge))
    }

    /// The client of a tenant: the one that there is, or a new one.
    fn of_tenant(&self, tenant: &TenantId) -> Result<Arc<Client>, Failure> {
        let now = Instant::now();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((client, used)) = clients.get_mut(tenant) {
            *used = now;
            return Ok(Arc::clone(client));
        }
        if clients.len() >= MOST_CLIENTS {
            let unused = clients.iter().filter(|(_, (client, _))| Arc::strong_count(client) == 1 && client.is_unused());
            let Some(unused) = unused.min_by_key(|(_, (_, used))| *used).map(|(tenant, _)| tenant.clone()) else {
                return Err(Failure::busy("the host serves as many clients as it may; try again later"));
            };
            clients.remove(&unused);
        }
        let ProtectedResource { plugins, requests_per_second, calls, .. } = &self.resource;
        let client = Arc::new(self.making.issued(tenant, plugins.as_deref(), *requests_per_second, *calls));
        clients.insert(tenant.clone(), (Arc::clone(&client), now));
        Ok(client)
    }
}

/// What clients have to know before they ask for a token (RFC 9728, section 2).
#[derive(Serialize, JsonSchema)]
pub(super) struct Metadata {
    /// The address that tokens have to be for.
    resource: String,
    /// A name for people.
    resource_name: &'static str,
    /// Who issues tokens.
    authorization_servers: Vec<String>,
    /// How a token is shown: in a header alone.
    bearer_methods_supported: [&'static str; 1],
    /// The scopes that a token needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
}

/// What clients have to know before they ask for a token.
pub(super) async fn metadata(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    let Some(Issued { resource, .. }) = &shared.issued else {
        let told = "this host issues its tokens itself, and has no authorization server";
        return Err(Error::new(Code::NotFound, told).into());
    };
    let metadata = Metadata {
        resource: resource.resource.clone(),
        resource_name: "Wharf",
        authorization_servers: resource.authorization_servers.clone(),
        bearer_methods_supported: ["header"],
        scopes_supported: resource.scopes.clone(),
    };
    Ok(Json(metadata).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    #[async_trait]
    impl TokenVerifier for Nobody {
        async fn verify(&self, _: &str) -> Result<VerifiedToken, TokenRefused> {
            Err(TokenRefused::Unavailable)
        }
    }

    #[test]
    fn the_address_of_the_metadata_has_the_path_of_the_resource_at_its_end() {
        for (resource, address) in [
            ("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"),
            ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example:8/x/mcp/", "https://a.example:8/.well-known/oauth-protected-resource/x/mcp"),
        ] {
            let resource = ProtectedResource {
                resource: resource.into(),
                authorization_servers: Vec::new(),
                scopes: vec!["tools".into()],
                plugins: None,
                requests_per_second: None,
                calls: None,
                verifier: Arc::new(Nobody),
            };
            assert_eq!(resource.metadata_address(), address);
            let challenge = resource.challenge(Some(&TokenRefused::Scope("tools".into()))).expect("a header");
            let challenge = challenge.to_str().expect("ASCII");
            assert!(challenge.contains(address) && challenge.ends_with("error=\"insufficient_scope\""), "{challenge}");
        }
    }
}
