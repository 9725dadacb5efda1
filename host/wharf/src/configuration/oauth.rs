//! `[http.oauth]`: the authorization server whose tokens are taken, and for whom.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use url::Url;
use wharf_sources::is_protected;
use zeroize::Zeroizing;

use super::{
    SecretSource, SecretUnavailable,
    secret_source::{self, WrittenSource},
};

/// How long what an issuer says of a token counts, unless it is written.
const KEPT_SECONDS: u64 = 30;
/// ...and the longest.
const MOST_KEPT_SECONDS: u64 = 600;
const INTROSPECTION: &str = "http.oauth.introspection";

/// `[http.oauth]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenOAuth {
    /// The authorization server, exactly as its tokens name it (`iss`).
    issuer: String,
    /// The address of `/mcp` as clients know it; tokens have to be for it (`aud`).
    resource: String,
    /// Where the keys of the issuer are; where absent, as it says itself (RFC 8414, or
    /// OpenID Connect Discovery).
    jwks: Option<String>,
    /// The claim whose values are tenants; `sub` where absent: everybody has their own.
    tenant_claim: Option<String>,
    /// Scopes that a token needs.
    #[serde(default)]
    scopes: Vec<String>,
    /// Patterns of the plugins whose tools its clients see; all where absent.
    plugins: Option<Vec<String>>,
    /// For each tenant; lower than the limit of this name.
    requests_per_second: Option<u64>,
    /// Calls in flight of each tenant; lower than the limit `calls_per_client`.
    calls: Option<u64>,
    /// Takes tokens that are bound to the certificate of their client (RFC 8705), on its connections alone: `accepted`
    /// beside others, or `required`. The host then asks clients for certificates, which needs [http.tls]. Refused where
    /// absent.
    certificate_bound_tokens: Option<WrittenBinding>,
    /// Asks the authorization server about each token (RFC 7662): tokens that are no JWTs are taken then, and revoked
    /// ones refused.
    introspection: Option<WrittenIntrospection>,
}

/// Which tokens may be bound to a certificate, as it is written.
#[derive(Debug, Clone, Copy, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WrittenBinding {
    Accepted,
    Required,
}

/// What becomes of tokens that are bound to the certificate of their client (RFC 8705).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CertificateBinding {
    /// They are refused: no client is asked for a certificate.
    #[default]
    Refused,
    /// They are taken on connections of their certificate, and others on any.
    Accepted,
    /// No other token is taken.
    Required,
}

/// `[http.oauth.introspection]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenIntrospection {
    /// Where the server is asked; where absent, as the issuer says itself (`introspection_endpoint`).
    address: Option<String>,
    /// The name by which this host is known to the server (`client_id`).
    client: String,
    /// The variable of the host's environment that has the client's secret.
    environment: Option<String>,
    /// The file that has it, and nothing else.
    file: Option<PathBuf>,
    /// The credential of the host's systemd unit that has it.
    credential: Option<String>,
    /// The program that prints it, by its whole path, and its arguments; no shell is involved.
    command: Option<Vec<String>>,
    /// The key of the kernel's keyrings that has it, on Linux: `user:` and its description.
    keyring: Option<String>,
    /// Whether it may come from a file that others may read, or from a program that others may change.
    #[serde(default)]
    allow_unprotected: bool,
    /// Seconds for which an answer counts, up to 600: so long a revoked token still opens this host. 30 where absent.
    kept_seconds: Option<u64>,
}

/// `[http.oauth.introspection]`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntrospectionSettings {
    /// Where the server is asked, where that is written.
    pub address: Option<Url>,
    /// The name of this host.
    pub client: String,
    /// Where its secret comes from.
    pub from: SecretSource,
    /// Whether that may be a file that others may read, or a program that others may change.
    pub allow_unprotected: bool,
    /// How long an answer counts.
    pub kept: Duration,
}

impl IntrospectionSettings {
    /// A host of this name, which asks where the issuer says.
    #[must_use]
    pub fn new(client: impl Into<String>, from: SecretSource) -> Self {
        let kept = Duration::from_secs(KEPT_SECONDS);
        Self { address: None, client: client.into(), from, allow_unprotected: false, kept }
    }

    /// Reads the secret: it is read each time that it is needed, so that it may be replaced. A program that prints it
    /// runs again where that secret was [refused](Self::refuse_secret).
    ///
    /// # Errors
    /// Why it cannot be had; never what it is.
    pub(crate) fn secret(&self) -> Result<Zeroizing<String>, SecretUnavailable> {
        let text = secret_source::read_secret_text(INTROSPECTION, &self.from, self.allow_unprotected)?;
        Ok(Zeroizing::new(text.trim().to_owned()))
    }

    /// Says that the server no longer takes the secret.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "nobody is asked"))]
    pub(crate) fn refuse_secret(&self) {
        if let SecretSource::Command(command) = &self.from {
            command.forget();
        }
    }
}

/// `[http.oauth]`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthSettings {
    /// The authorization server, as its tokens name it.
    pub issuer: String,
    /// The resource that a token has to be for.
    pub resource: String,
    /// Where the keys are, where that is written.
    pub jwks: Option<Url>,
    /// The claim whose values are tenants.
    pub tenant_claim: String,
    /// Scopes that a token needs.
    pub scopes: Vec<String>,
    /// Patterns of the plugins whose tools its clients see; all where absent.
    pub plugins: Option<Vec<String>>,
    /// For each tenant.
    pub requests_per_second: Option<u64>,
    /// For each tenant.
    pub calls: Option<u64>,
    /// What becomes of tokens that are bound to a certificate.
    pub certificate_binding: CertificateBinding,
    /// How the authorization server is asked about each token, where it is.
    pub introspection: Option<IntrospectionSettings>,
}

impl OAuthSettings {
    /// Tokens of this issuer for this resource, of which each subject is a tenant of its own.
    /// Nothing is checked that `wharf.toml` would have to say rightly.
    #[must_use]
    pub fn new(issuer: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            resource: resource.into(),
            jwks: None,
            tenant_claim: "sub".to_owned(),
            scopes: Vec::new(),
            plugins: None,
            requests_per_second: None,
            calls: None,
            certificate_binding: CertificateBinding::Refused,
            introspection: None,
        }
    }
}

impl WrittenOAuth {
    pub(super) fn check(self, base: &Path) -> Result<OAuthSettings, String> {
        let address = |key: &str, text: &str| {
            let address = Url::parse(text).map_err(|error| format!("[http.oauth] `{key}` is no address: {error}"))?;
            let problem = if !address.username().is_empty() || address.password().is_some() {
                "has a user or password in it"
            } else if address.fragment().is_some()
                || (matches!(key, "issuer" | "resource") && address.query().is_some())
            {
                "has something behind its path"
            } else if !is_protected(&address) {
                "could be changed on its way: begin it with `https:`"
            } else {
                return Ok(address);
            };
            Err(format!("[http.oauth] `{key}` {problem}"))
        };
        address("issuer", &self.issuer)?;
        address("resource", &self.resource)?;
        let jwks = self.jwks.as_deref().map(|jwks| address("jwks", jwks)).transpose()?;
        let legal = |byte: u8| (0x21..=0x7e).contains(&byte) && byte != b'"' && byte != b'\\';
        if let Some(scope) = self.scopes.iter().find(|scope| scope.is_empty() || !scope.bytes().all(legal)) {
            return Err(format!("[http.oauth] {scope:?} is no scope"));
        }
        if self.plugins.as_ref().is_some_and(Vec::is_empty) {
            return Err("[http.oauth] `plugins` is empty; leave it out to allow all of them".to_owned());
        }
        if self.requests_per_second == Some(0) || self.calls == Some(0) {
            return Err("[http.oauth] `requests_per_second` and `calls` are at least 1".to_owned());
        }
        let introspection = self.introspection.map(|written| {
            let at = written.address.as_deref().map(|text| address("introspection.address", text)).transpose()?;
            written.check(at, base)
        });
        let introspection = introspection.transpose()?;
        let Self { issuer, resource, tenant_claim, scopes, plugins, requests_per_second, calls, .. } = self;
        let settings = OAuthSettings::new(issuer, resource);
        let tenant_claim = tenant_claim.unwrap_or(settings.tenant_claim);
        let certificate_binding = match self.certificate_bound_tokens {
            None => CertificateBinding::Refused,
            Some(WrittenBinding::Accepted) => CertificateBinding::Accepted,
            Some(WrittenBinding::Required) => CertificateBinding::Required,
        };
        Ok(OAuthSettings {
            jwks,
            tenant_claim,
            scopes,
            plugins,
            requests_per_second,
            calls,
            certificate_binding,
            introspection,
            ..settings
        })
    }
}

impl WrittenIntrospection {
    fn check(self, address: Option<Url>, base: &Path) -> Result<IntrospectionSettings, String> {
        let Self { environment, file, credential, command, keyring, .. } = self;
        let from = WrittenSource { environment, file, credential, command, keyring };
        let from = from.check(&format!("[{INTROSPECTION}]"), base)?;
        let seconds = self.kept_seconds.unwrap_or(KEPT_SECONDS);
        if seconds > MOST_KEPT_SECONDS {
            return Err(format!("[{INTROSPECTION}] `kept_seconds` is at most {MOST_KEPT_SECONDS}"));
        }
        if self.client.is_empty() {
            return Err(format!(
                "[{INTROSPECTION}] `client` is empty; it is the name by which the server knows this host"
            ));
        }
        Ok(IntrospectionSettings {
            address,
            client: self.client,
            from,
            allow_unprotected: self.allow_unprotected,
            kept: Duration::from_secs(seconds),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Configuration;

    #[test]
    fn an_authorization_server_is_asked_for_its_keys_where_nobody_can_change_them() {
        let parse = |more: &str| {
            let text = format!("[http.oauth]\nresource = \"https://wharf.example/mcp\"\n{more}");
            let parsed = Configuration::parse(&text, Path::new("/")).map_err(|problem| problem.to_string());
            parsed.map(|configuration| configuration.http.oauth)
        };
        let oauth = parse("issuer = \"https://login.example\"").expect("right").expect("written");
        assert_eq!((oauth.tenant_claim.as_str(), oauth.jwks), ("sub", None));
        parse("issuer = \"http://127.0.0.1:9\"\njwks = \"http://[::1]:9/keys?x=1\"").expect("of this machine");
        let issuer = "issuer = \"https://login.example\"";
        for (more, word) in [
            (String::new(), "issuer"),
            ("issuer = \"http://login.example\"".to_owned(), "https:"),
            ("issuer = \"http://localhost\"".to_owned(), "https:"),
            ("issuer = \"https://me:secret@login.example\"".to_owned(), "user or password"),
            (format!("{issuer}\njwks = \"ftp://login.example/keys\""), "`jwks`"),
            (format!("{issuer}\nscopes = [\"a b\"]"), "no scope"),
            (format!("{issuer}\nplugins = []"), "leave it out"),
            (format!("{issuer}\ncalls = 0"), "at least 1"),
            (format!("{issuer}\naudience = \"x\""), "audience"),
            (format!("{issuer}\n[http.oauth.introspection]\nfile = \"a\""), "client"),
            (format!("{issuer}\n[http.oauth.introspection]\nclient = \"\"\nfile = \"a\""), "`client` is empty"),
            (format!("{issuer}\n[http.oauth.introspection]\nclient = \"a\""), "[http.oauth.introspection] names where"),
            (
                format!("{issuer}\n[http.oauth.introspection]\nclient = \"a\"\nfile = \"a\"\nkept_seconds = 601"),
                "at most 600",
            ),
            (
                format!("{issuer}\n[http.oauth.introspection]\nclient = \"a\"\nfile = \"a\"\naddress = \"http://a.b\""),
                "`introspection.address`",
            ),
        ] {
            let problem = parse(&more).expect_err(&more);
            assert!(problem.contains(word), "{more}: {problem}");
        }
    }
}
