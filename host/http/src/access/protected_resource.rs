//! The host as a protected resource of OAuth 2.1 (RFC 9728), whose tokens an authorization
//! server issues.
//!
//! Knows no signature: a [`TokenVerifier`] says whose a token is.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use axum::http::HeaderValue;
use wharf_core::{TenantId, service::ClientRights};

use crate::{listener::client_certificate::ConnectionCertificate, routes::paths::METADATA};

/// Says whose a token is that somebody else has issued.
#[async_trait]
pub trait TokenVerifier: Send + Sync + fmt::Debug {
    /// Looks at a token that a request shows, on a connection of this certificate. It may take as long as asking the
    /// issuer for its keys does; dropping the future gives up.
    async fn verify(&self, token: &str, certificate: &ConnectionCertificate) -> Result<VerifiedToken, TokenRefused>;

    /// Whether a token may be any text. Else it has three parts, as a JSON Web Token has (RFC 7515, section 7.1), and
    /// nobody is asked about another one.
    fn takes_any_text(&self) -> bool {
        false
    }

    /// Whether this token held a moment ago: it is looked at although others of its address were wrong too often.
    fn has_held(&self, token: &str) -> bool {
        let _ = token;
        false
    }
}

/// A token that holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// On whose behalf its requests are.
    pub tenant: TenantId,
    /// Who it was issued for, in the words of its issuer; the audit tells it.
    pub subject: Option<String>,
}

/// Why a token opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRefused {
    /// It is not by this issuer for this host, or has expired.
    #[error("this token does not hold here: {0}")]
    Invalid(String),
    /// It holds, and lacks a scope.
    #[error("this token lacks a scope; this host asks for: {0}")]
    Scope(String),
    /// Nobody can say: the keys of the issuer cannot be had.
    #[error("the keys of the issuer of this token cannot be had now; try again later")]
    Unavailable,
    /// Nobody can say any more: the issuer has been away for so long that it may have withdrawn
    /// the key.
    #[error(
        "the issuer of this token has not confirmed its keys for 24 hours, so no token of it holds; try again once it \
         answers"
    )]
    Unconfirmed,
}

/// The host as a protected resource.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// The address of the host's `/mcp` as clients know it; tokens have to be for it.
    pub resource: String,
    /// The servers that issue tokens for it.
    pub authorization_servers: Vec<String>,
    /// The scopes that a token needs.
    pub scopes: Vec<String>,
    /// Whether clients may show tokens that are bound to a certificate (RFC 8705).
    pub takes_bound_tokens: bool,
    /// What the clients of a tenant may do together.
    pub rights: ClientRights,
    /// Says whose a token is.
    pub verifier: Arc<dyn TokenVerifier>,
}

impl ProtectedResource {
    /// The address of what is told about the resource, by the rule of RFC 9728.
    fn metadata_address(&self) -> String {
        let start = self.resource.find("://").map_or(0, |at| at + 3);
        let (origin, path) = match self.resource[start..].find('/') {
            Some(at) => self.resource.split_at(start + at),
            None => (self.resource.as_str(), ""),
        };
        format!("{origin}{METADATA}{}", path.trim_end_matches('/'))
    }

    /// How a client gets a token, or which one, for the header `WWW-Authenticate`.
    pub(crate) fn challenge(&self, refused: Option<&TokenRefused>) -> Option<HeaderValue> {
        let mut challenge = format!("Bearer realm=\"wharf\", resource_metadata=\"{}\"", self.metadata_address());
        let scopes = self.scopes.join(" ");
        let error = match refused {
            Some(TokenRefused::Invalid(_)) => Some("invalid_token"),
            Some(TokenRefused::Scope(_)) => Some("insufficient_scope"),
            Some(TokenRefused::Unavailable | TokenRefused::Unconfirmed) | None => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    #[async_trait]
    impl TokenVerifier for Nobody {
        async fn verify(&self, _: &str, _: &ConnectionCertificate) -> Result<VerifiedToken, TokenRefused> {
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
                takes_bound_tokens: false,
                rights: ClientRights::tools_alone(),
                verifier: Arc::new(Nobody),
            };
            assert_eq!(resource.metadata_address(), address);
            let challenge = resource.challenge(Some(&TokenRefused::Scope("tools".into()))).expect("a header");
            let challenge = challenge.to_str().expect("ASCII");
            assert!(challenge.contains(address) && challenge.ends_with("error=\"insufficient_scope\""), "{challenge}");
        }
    }
}
