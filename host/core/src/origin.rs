//! Origins of the web: which a plugin was granted, and which addresses are
//! private. Decides; reaches nothing.

mod address;
mod pattern;

use std::{fmt, net::IpAddr};

use url::Url;

pub use address::is_private;
pub use pattern::{InvalidOrigin, OriginPattern};

use crate::{Code, Error, PluginName};

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
    /// The origin of a URL of `http`, `https`, `ws` or `wss`; none of any other.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = match url.scheme() {
            "http" | "ws" => Scheme::Http,
            "https" | "wss" => Scheme::Https,
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?.trim_end_matches('.').to_ascii_lowercase();
        Some(Self { scheme, host, port: url.port().unwrap_or_else(|| scheme.default_port()) })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(formatter, ":{}", self.port) }
    }
}

/// Where the pages of a plugin may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginPolicy {
    plugin: PluginName,
    origins: Vec<OriginPattern>,
    private_addresses: bool,
}

impl OriginPolicy {
    /// What a grant comes to.
    #[must_use]
    pub fn new(plugin: PluginName, origins: Vec<OriginPattern>, private_addresses: bool) -> Self {
        Self { plugin, origins, private_addresses }
    }

    /// Checks an address that a page is to be sent to, or asks for.
    ///
    /// # Errors
    /// `invalid` for a text that is no URL; `denied` for another scheme and an
    /// origin that is not granted, naming the line of configuration that would
    /// allow it.
    pub fn url(&self, text: &str) -> Result<Url, Error> {
        let url = Url::parse(text).map_err(|error| {
            Error::new(
                Code::Invalid,
                format!("this is no URL ({error}); write it with its scheme, as in https://example.com/"),
            )
        })?;
        match Origin::of(&url) {
            Some(origin) => self.origin(&origin)?,
            None => {
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
    /// `denied`, naming the line of configuration that would allow it.
    pub fn origin(&self, origin: &Origin) -> Result<(), Error> {
        if self.origins.iter().any(|pattern| pattern.matches(origin)) {
            return Ok(());
        }
        Err(self.refusal(&origin.to_string()))
    }

    /// Checks a host and port of which no scheme is known, as a tunnel names it.
    ///
    /// # Errors
    /// As [`OriginPolicy::origin`].
    pub fn tunnel(&self, host: &str, port: u16) -> Result<(), Error> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let origin = |scheme| Origin { scheme, host: host.clone(), port };
        let allowed = [Scheme::Https, Scheme::Http].map(origin);
        if allowed.iter().any(|origin| self.origins.iter().any(|pattern| pattern.matches(origin))) {
            return Ok(());
        }
        Err(self.refusal(&allowed[0].to_string()))
    }

    /// Checks an address that a granted name led to.
    ///
    /// # Errors
    /// `denied` for a private one where those are not granted.
    pub fn address(&self, address: IpAddr) -> Result<(), Error> {
        if self.private_addresses || !is_private(address) {
            return Ok(());
        }
        let message = format!(
            "{address} is a private address, and plugin `{0}` may not reach those; to allow it, set `private_addresses = \
             true` under [plugin.{0}.grants.webview] in wharf.toml",
            self.plugin
        );
        Err(Error::new(Code::Denied, message))
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

    fn refusal(&self, origin: &str) -> Error {
        let message = format!(
            "plugin `{0}` may not reach {1}; to allow it, add \"{1}\" to `origins` under [plugin.{0}.grants.webview] in \
             wharf.toml",
            self.plugin,
            crate::text::line(origin, 300),
        );
        Error::new(Code::Denied, message)
    }
}
