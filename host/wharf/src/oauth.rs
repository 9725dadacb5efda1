//! Tokens of an authorization server: JSON Web Tokens (RFC 9068) that are checked by the
//! keys which it publishes, and others that it is asked about (RFC 7662).
//!
//! What a token says counts only once its signature holds. Which algorithms there are is
//! decided here, never by the token: one by a shared secret, or by none, is refused.

mod claims;
mod confirmation;
mod discovery;
mod introspection;
mod keys;
mod signature;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Header, decode_header};
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use wharf_core::{Digest, TenantId, service::ClientRights};
use wharf_http::{ConnectionCertificate, ProtectedResource, TokenRefused, TokenVerifier, VerifiedToken};

use crate::configuration::{CertificateBinding, OAuthSettings};
use introspection::Introspection;
use keys::IssuerKeys;
use signature::ALGORITHMS;

/// What a header may call it. An ID token or a logout token is no access token; those
/// that call themselves `JWT`, as many issuers do, are told apart by their audience.
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];
/// Tokens that are known to have held.
const MOST_HELD: usize = 8_192;
/// Begins the tenants of an issuer's subjects, so that none is one of the operator's.
const PREFIX: &str = "oauth:";

/// The host as a protected resource of the authorization server that these settings
/// name, for [`HttpSettings::oauth`](wharf_http::HttpSettings::oauth). Nothing is
/// asked of it before a token comes.
#[must_use]
pub fn protected_resource(settings: OAuthSettings) -> ProtectedResource {
    let mut rights = ClientRights::tools_alone();
    rights.plugins.clone_from(&settings.plugins);
    (rights.requests_per_second, rights.calls) = (settings.requests_per_second, settings.calls);
    ProtectedResource {
        resource: settings.resource.clone(),
        authorization_servers: vec![settings.issuer.clone()],
        scopes: settings.scopes.clone(),
        takes_bound_tokens: settings.certificate_binding != CertificateBinding::Refused,
        rights,
        verifier: Arc::new(Verifier::new(settings)),
    }
}

/// Checks tokens of one authorization server.
#[derive(Debug)]
struct Verifier {
    settings: OAuthSettings,
    keys: IssuerKeys,
    introspection: Option<Introspection>,
    /// Digests of tokens that held the last time that they were looked at.
    held: Cache<[u8; blake3::OUT_LEN], ()>,
}

type Claims = Map<String, Value>;

impl Verifier {
    fn new(settings: OAuthSettings) -> Self {
        let keys = IssuerKeys::new(settings.issuer.clone(), settings.jwks.clone());
        let asked = settings.introspection.clone();
        let introspection = asked.map(|asked| Introspection::new(settings.issuer.clone(), asked));
        Self { settings, keys, introspection, held: Cache::new(MOST_HELD) }
    }

    /// Whose a token with these claims is.
    fn tenant(&self, claims: &Claims) -> Result<TenantId, TokenRefused> {
        let claim = &self.settings.tenant_claim;
        let subject = claims.get(claim).and_then(Value::as_str).filter(|subject| !subject.is_empty());
        let subject = subject.ok_or_else(|| invalid(&format!("it has no `{claim}` that is a text")))?;
        let named = format!("{PREFIX}{subject}");
        // A subject may be anything. One that begins with this prefix is hashed, too, so
        // that no subject can be called as the digest of another one.
        let hashed = "blake3.";
        if let Some(tenant) = named.parse().ok().filter(|_| !subject.starts_with(hashed)) {
            return Ok(tenant);
        }
        let digest = Digest::of(subject.as_bytes()).to_string();
        let digest = digest.rsplit(':').next().unwrap_or_default().to_owned();
        format!("{PREFIX}{hashed}{digest}").parse().map_err(|_| invalid("its subject has no name here"))
    }

    fn check_scopes(&self, claims: &Claims) -> Result<(), TokenRefused> {
        let given: BTreeSet<&str> = ["scope", "scp"]
            .into_iter()
            .filter_map(|claim| claims.get(claim))
            .flat_map(|value| match value {
                Value::String(text) => text.split(' ').collect::<Vec<_>>(),
                Value::Array(scopes) => scopes.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            })
            .collect();
        match self.settings.scopes.iter().all(|scope| given.contains(scope.as_str())) {
            true => Ok(()),
            false => Err(TokenRefused::Scope(self.settings.scopes.join(" "))),
        }
    }
}

#[async_trait]
impl TokenVerifier for Verifier {
    async fn verify(&self, token: &str, certificate: &ConnectionCertificate) -> Result<VerifiedToken, TokenRefused> {
        let bound = |claims: &[&Claims]| {
            confirmation::check(claims, certificate, self.settings.certificate_binding).map_err(invalid)
        };
        let claims = match (decode_header(token), &self.introspection) {
            (Ok(header), asked) => {
                // What a stranger makes up reaches no issuer.
                let claims = self.signed_claims(token, &header).await?;
                match asked {
                    // The issuer may name the certificate in either place.
                    Some(asked) => {
                        let told = asked.claims(token).await?;
                        bound(&[&claims, &*told])?;
                    }
                    None => bound(&[&claims])?,
                }
                Arc::new(claims)
            }
            (Err(_), Some(asked)) => {
                let claims = asked.claims(token).await?;
                claims::check_introspected(&claims, &self.settings.issuer, &self.settings.resource).map_err(invalid)?;
                bound(&[&claims])?;
                claims
            }
            (Err(_), None) => return Err(invalid("it is no JSON Web Token")),
        };
        let tenant = self.tenant(&claims)?;
        self.check_scopes(&claims)?;
        let subject = claims.get("sub").and_then(Value::as_str).map(str::to_owned);
        self.held.insert(*blake3::hash(token.as_bytes()).as_bytes(), ());
        Ok(VerifiedToken { tenant, subject })
    }

    fn takes_any_text(&self) -> bool {
        self.introspection.is_some()
    }

    fn has_held(&self, token: &str) -> bool {
        self.held.get(blake3::hash(token.as_bytes()).as_bytes()).is_some()
    }
}

impl Verifier {
    /// What a JSON Web Token says that its issuer has signed for this host.
    async fn signed_claims(&self, token: &str, header: &Header) -> Result<Claims, TokenRefused> {
        check(header)?;
        let key = self.keys.find(header.kid.as_deref(), header.alg).await?;
        if !key.signed(token, header.alg) {
            return Err(invalid("its signature is wrong"));
        }
        let claims = read(token).ok_or_else(|| invalid("it is none that can be checked"))?;
        claims::check(&claims, &self.settings.issuer, &self.settings.resource).map_err(invalid)?;
        Ok(claims)
    }
}

fn invalid(reason: &str) -> TokenRefused {
    TokenRefused::Invalid(reason.to_owned())
}

fn check(header: &Header) -> Result<(), TokenRefused> {
    if !ALGORITHMS.contains(&header.alg) {
        return Err(invalid("its algorithm is none by which an issuer signs with a key of its own"));
    }
    // RFC 7515, section 4.1.11. The library reads the list and leaves it at that.
    if header.crit.is_some() {
        return Err(invalid("it has extensions that must be understood (`crit`), and none is here"));
    }
    let is_one = |kind: &String| TYPES.iter().any(|known| kind.eq_ignore_ascii_case(known));
    match &header.typ {
        Some(kind) if !is_one(kind) => Err(invalid("its `typ` is not that of an access token")),
        _ => Ok(()),
    }
}

/// What a token says: its second part of three.
fn read(token: &str) -> Option<Claims> {
    let claims = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
}
