//! Origins of the web: which a plugin was granted, and which addresses are
//! private. Decides; reaches nothing.

mod address;
mod guard;
mod pattern;
#[cfg(test)]
mod tests;

use std::{fmt, net::IpAddr, sync::Arc};

use url::{Host, Url};

pub use address::is_private;
use guard::OriginGuard;
pub use guard::OriginRules;
pub use pattern::{InvalidOrigin, OriginPattern};

use crate::{
    Code, Error, PluginName,
    grant::{Capability, Expiry, Refusal, Standing},
};

/// A scheme, host and port, as pages are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `http` or `https`; that of a WebSocket counts as the one it begins with.
    pub scheme: Scheme,
    /// Lower case, as a URL writes it; an IPv6 address in brackets.
    pub host: String,
    /// Always said.
    pub port: u16,
}

/// A server that can be connected to: what was checked is what is connected to, and
/// what the server is told in `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// A name, or an address.
    pub host: Host,
    /// Never 0.
    pub port: u16,
    /// Host and, where it is not the usual one, port, as `Host` has it.
    pub authority: String,
}

impl Server {
    /// The server of a URL; none where it has no host or port 0.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        let host = url.host()?.to_owned();
        let port = url.port_or_known_default().filter(|port| *port != 0)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        Some(Self { host, port, authority })
    }
}

/// The schemes that can be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http`, and `ws`.
    Http,
    /// `https`, and `wss`.
    Https,
}

impl Scheme {
    /// As a URL writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port where a URL names none.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// The origin of a URL of `http`, `https`, `ws` or `wss`; none of any other, and
    /// none where its host is no name that a server can have.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = match url.scheme() {
            "http" | "ws" => Scheme::Http,
            "https" | "wss" => Scheme::Https,
            _ => return None,
        };
        let host = host(url.host()?)?;
        Some(Self { scheme, host, port: url.port().unwrap_or_else(|| scheme.default_port()) })
    }

    /// The origin of a text that is a URL; see [`Origin::of`].
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        Self::of(&Url::parse(text).ok()?)
    }
}

/// A host in one writing, without the dot that only says that a name is whole.
fn host(host: Host<&str>) -> Option<String> {
    let Host::Domain(name) = host else { return Some(host.to_string()) };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    // URLs let marks into names that no server has, such as quotes and commas.
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let whole = |label: &str| !label.is_empty() && label.bytes().all(legal);
    (name.len() <= 253 && name.split('.').all(whole)).then_some(name)
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(formatter, ":{}", self.port) }
    }
}

/// Where the pages of a plugin may go.
#[derive(Debug)]
pub struct OriginPolicy {
    plugin: PluginName,
    origins: Vec<OriginPattern>,
    private_addresses: bool,
    standing: Standing,
    expires: Option<Expiry>,
    guard: Option<OriginGuard>,
}

impl OriginPolicy {
    /// What a grant comes to.
    #[must_use]
    pub fn new(plugin: PluginName, origins: Vec<OriginPattern>, private_addresses: bool) -> Self {
        Self { plugin, origins, private_addresses, standing: Standing::default(), expires: None, guard: None }
    }

    /// The same for as long as its grant holds: a page outlives the call that
    /// opened it.
    #[must_use]
    pub(crate) fn under(self, standing: Standing, expires: Option<Expiry>) -> Self {
        Self { standing, expires, ..self }
    }

    /// The same where a person has to allow some of it, too.
    #[must_use]
    pub fn guarded(self, rules: Arc<dyn OriginRules>) -> Self {
        Self { guard: Some(OriginGuard::new(rules)), ..self }
    }

    /// A person has let a page of this policy go to an origin: what the same patterns of theirs name is
    /// open to it from now on, since pages load parts of themselves from their neighbours.
    pub fn let_through(&self, origin: &Origin) {
        if let Some(guard) = &self.guard {
            guard.open(origin);
        }
    }

    /// Checks an address that a page is to be sent to, or asks for.
    ///
    /// # Errors
    /// `invalid` for a text that is no URL; `denied` for another scheme, for an
    /// origin that is not granted, naming the line of configuration that would
    /// allow it, and for one that a person has to allow and has not.
    pub fn url(&self, text: &str) -> Result<Url, Error> {
        let url = Url::parse(text).map_err(|error| {
            Error::new(
                Code::Invalid,
                format!("this is no URL ({error}); write it with its scheme, as in https://example.com/"),
            )
        })?;
        match (url.scheme(), Origin::of(&url)) {
            (_, Some(origin)) => self.origin(&origin)?,
            ("http" | "https" | "ws" | "wss", None) => {
                return Err(Error::new(Code::Invalid, "the host of this URL is no name that a server can have"));
            }
            (_, None) => {
                let message = format!(
                    "pages go to `http:` and `https:` alone, not to `{}:`",
                    crate::text::line(url.scheme(), 32)
                );
                return Err(Error::new(Code::Denied, message));
            }
        }
        Ok(url)
    }

    /// Checks an origin.
    ///
    /// # Errors
    /// `denied`: it is not granted, and the error names the line of configuration that would allow it; or
    /// a person has to allow it, and has not.
    pub fn origin(&self, origin: &Origin) -> Result<(), Error> {
        self.holds()?;
        if self.grants(origin) { self.is_let(origin) } else { Err(self.refusal(&origin.to_string())) }
    }

    /// Checks a host and port of which no scheme is known, as a tunnel names it. One
    /// that is granted for `http` carries the WebSockets of that origin.
    ///
    /// # Errors
    /// As [`OriginPolicy::origin`]; `invalid` for what is no host.
    pub fn tunnel(&self, named: &str, port: u16) -> Result<(), Error> {
        let host = Host::parse(named).ok().and_then(|parsed| match &parsed {
            Host::Domain(name) => host(Host::Domain(name)),
            address => Some(address.to_string()),
        });
        let host = host.ok_or_else(|| Error::new(Code::Invalid, "this is no host that a server can have"))?;
        let origin = |scheme| Origin { scheme, host: host.clone(), port };
        self.holds()?;
        let named = [Scheme::Https, Scheme::Http].map(origin);
        if !named.iter().any(|origin| self.grants(origin)) {
            return Err(self.refusal(&named[0].to_string()));
        }
        // It may be any of them.
        named.iter().try_for_each(|origin| self.is_let(origin))
    }

    /// Checks an address that a granted name led to.
    ///
    /// # Errors
    /// `denied` for a private one where those are not granted.
    pub fn address(&self, address: IpAddr) -> Result<(), Error> {
        self.holds()?;
        if self.private_addresses || !is_private(address) {
            return Ok(());
        }
        let what = format!("may not reach {address}, which is a private address");
        Err(self.beyond(what, "set `private_addresses = true`".to_owned()))
    }

    /// What was granted, as it was written.
    pub fn patterns(&self) -> impl Iterator<Item = &OriginPattern> {
        self.origins.iter()
    }

    /// Whether private addresses may be reached.
    #[must_use]
    pub fn private_addresses(&self) -> bool {
        self.private_addresses
    }

    fn grants(&self, origin: &Origin) -> bool {
        self.origins.iter().any(|pattern| pattern.matches(origin))
    }

    fn is_let(&self, origin: &Origin) -> Result<(), Error> {
        if self.guard.as_ref().is_none_or(|guard| guard.lets(origin)) {
            return Ok(());
        }
        let origin = crate::text::line(&origin.to_string(), 300);
        let message = format!(
            "a person has to allow {origin}, and has not let this page go there: navigate the page there, which asks them"
        );
        Err(Error::new(Code::Denied, message))
    }

    fn refusal(&self, origin: &str) -> Error {
        let origin = crate::text::line(origin, 300);
        self.beyond(format!("may not reach {origin}"), format!("add \"{origin}\" to `origins`"))
    }

    fn beyond(&self, what: String, change: String) -> Error {
        self.standing.refuse(&self.plugin, Capability::WebView, Refusal::Beyond { what, change })
    }

    fn holds(&self) -> Result<(), Error> {
        self.standing.holds(&self.plugin, Capability::WebView, self.expires.as_ref())
    }
}
