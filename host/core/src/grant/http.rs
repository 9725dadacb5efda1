//! The grant of HTTP requests: which, and to what kind of address.

use std::net::IpAddr;

use super::{
    denial::{Capability, Refusal},
    expiry::Expiry,
    standing::{Holder, Standing},
};
use crate::{
    Code, Error, PluginName,
    origin::is_private,
    request::{RequestPattern, Secret, Secrets, WantedRequest},
};

/// HTTP requests.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpGrant {
    /// Why; for the person who reads the configuration later.
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Requests that may be sent: `GET https://api.example.com/v1/*`,
    /// `GET,POST https://example.com` for every path, `* https://*.example.com` for
    /// every method. Without a method, `GET` and `HEAD`.
    #[serde(default)]
    pub requests: Vec<RequestPattern>,
    /// Whether requests reach private addresses: the loopback, link-local and private
    /// networks. `requests` has to name them all the same.
    #[serde(default)]
    pub private_addresses: bool,
}

impl HttpGrant {
    /// No request, and every other default.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), expires: None, requests: Vec::new(), private_addresses: false }
    }
}

/// Proof that a plugin may send requests.
#[derive(Debug)]
pub struct GrantedHttp<'g> {
    pub(super) grant: &'g HttpGrant,
    pub(super) secrets: &'g Secrets,
    pub(super) holder: Holder<'g>,
}

/// Proof that a plugin may send this request. It is connected to what is named here
/// alone.
#[derive(Debug, Clone)]
pub struct GrantedRequest {
    wanted: WantedRequest,
    secrets: Vec<Secret>,
    plugin: PluginName,
    private_addresses: bool,
    standing: Standing,
    expires: Option<Expiry>,
}

impl GrantedHttp<'_> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &HttpGrant {
        self.grant
    }

    /// Checks that this request may be sent. What it leads to, such as another
    /// address, is a request of its own.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn request(&self, wanted: WantedRequest) -> Result<GrantedRequest, Error> {
        if !self.grant.requests.iter().any(|pattern| pattern.matches(&wanted)) {
            let what = format!("may not send {}", crate::text::line(&wanted.told(), 300));
            let change = match wanted.exact_pattern() {
                Some(pattern) => format!("add \"{pattern}\" to `requests`"),
                None => "change `requests`".to_owned(),
            };
            return Err(self.holder.beyond(what, change));
        }
        let (standing, expires) = self.holder.kept();
        Ok(GrantedRequest {
            secrets: self.secrets.of(&wanted),
            wanted,
            plugin: self.holder.plugin.clone(),
            private_addresses: self.grant.private_addresses,
            standing,
            expires,
        })
    }
}

impl GrantedRequest {
    /// What was asked for.
    #[must_use]
    pub fn wanted(&self) -> &WantedRequest {
        &self.wanted
    }

    /// What the host adds to it.
    #[must_use]
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// Checks a header that the plugin itself sets.
    ///
    /// # Errors
    /// `denied` where the host fills it.
    pub fn header(&self, name: &str) -> Result<(), Error> {
        let Some(secret) = self.secrets.iter().find(|secret| secret.rule().header().eq_ignore_ascii_case(name)) else {
            return Ok(());
        };
        let (header, secret) = (secret.rule().header(), secret.rule().name());
        let message =
            format!("the host sets the header `{header}` of this request to the secret `{secret}`; leave it out");
        Err(Error::new(Code::Denied, message))
    }

    /// Checks an address that the server's name led to.
    ///
    /// # Errors
    /// `denied` for a private one where those are not granted.
    pub fn address(&self, address: IpAddr) -> Result<(), Error> {
        let Self { plugin, standing, .. } = self;
        standing.holds(plugin, Capability::Http, self.expires.as_ref())?;
        if self.private_addresses || !is_private(address) {
            return Ok(());
        }
        let what = format!("may not reach {address}, which is a private address");
        let why = Refusal::Beyond { what, change: "set `private_addresses = true`".to_owned() };
        Err(standing.refuse(plugin, Capability::Http, why))
    }
}
