//! `[http.oauth]`: the authorization server whose tokens are taken, and for whom.

use serde::Deserialize;
use url::Url;
use wharf_sources::is_protected;

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
        }
    }
}

impl WrittenOAuth {
    pub(super) fn check(self) -> Result<OAuthSettings, String> {
        let address = |key: &str, text: &str| {
            let address = Url::parse(text).map_err(|error| format!("[http.oauth] `{key}` is no address: {error}"))?;
            let problem = if !address.username().is_empty() || address.password().is_some() {
                "has a user or password in it"
            } else if address.fragment().is_some() || (key != "jwks" && address.query().is_some()) {
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
        let Self { issuer, resource, tenant_claim, scopes, plugins, requests_per_second, calls, .. } = self;
        let settings = OAuthSettings::new(issuer, resource);
        let tenant_claim = tenant_claim.unwrap_or(settings.tenant_claim);
        Ok(OAuthSettings { jwks, tenant_claim, scopes, plugins, requests_per_second, calls, ..settings })
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
        ] {
            let problem = parse(&more).expect_err(&more);
            assert!(problem.contains(word), "{more}: {problem}");
        }
    }
}
