//! What an operator writes to grant origins.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::{Origin, Scheme};

/// A granted origin, or many: `https://example.com`, `http://localhost:8080`,
/// `https://*.example.com` (its subdomains, not itself), `*` for all of `http` and
/// `https`. `:*` behind a host stands for any port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct OriginPattern {
    written: String,
    matcher: Matcher,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Matcher {
    All,
    Some { scheme: Scheme, host: HostMatcher, port: Option<u16> },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum HostMatcher {
    Exact(String),
    /// Begins with a dot.
    Below(String),
}

/// A text that names no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{written}` names no origin; write a scheme, a host and, where it is not the usual one, a port, as in \
     https://example.com, http://localhost:8080 or https://*.example.com, or * for all"
)]
pub struct InvalidOrigin {
    written: String,
}

impl OriginPattern {
    /// Whether it grants this origin.
    #[must_use]
    pub fn matches(&self, origin: &Origin) -> bool {
        let Matcher::Some { scheme, host, port } = &self.matcher else { return true };
        let host = match host {
            HostMatcher::Exact(host) => *host == origin.host,
            HostMatcher::Below(suffix) => origin.host.len() > suffix.len() && origin.host.ends_with(suffix),
        };
        host && *scheme == origin.scheme && port.is_none_or(|port| port == origin.port)
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    fn matcher(written: &str) -> Option<Matcher> {
        if written == "*" {
            return Some(Matcher::All);
        }
        let (scheme, authority) = written.split_once("://")?;
        let scheme = match scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (any_port, authority) = match authority.strip_suffix(":*") {
            Some(authority) => (true, authority),
            None => (false, authority),
        };
        let (below, authority) = match authority.strip_prefix("*.") {
            Some(authority) => (true, authority),
            None => (false, authority),
        };
        // Characters that a URL parser drops, or does not read as they are written.
        let odd = |character: char| {
            matches!(character, '*' | '/' | '?' | '#' | '@' | '\\' | '%')
                || character.is_whitespace()
                || character.is_control()
        };
        if authority.contains(odd) {
            return None;
        }
        // A port behind the address, not a part of one of IPv6.
        let says_port = authority.rsplit_once(']').map_or(authority, |(_, behind)| behind).contains(':');
        if any_port && says_port {
            return None;
        }
        // Whatever a URL makes of it, so that both are compared in one writing.
        let url = Url::parse(&format!("{}://{authority}/", scheme.as_str())).ok()?;
        let origin = Origin::of(&url).filter(|origin| origin.port != 0)?;
        let host = match (below, url.host()?) {
            (true, Host::Domain(_)) => HostMatcher::Below(format!(".{}", origin.host)),
            // There is nothing below an address.
            (true, Host::Ipv4(_) | Host::Ipv6(_)) => return None,
            (false, _) => HostMatcher::Exact(origin.host),
        };
        Some(Matcher::Some { scheme, host, port: (!any_port).then_some(origin.port) })
    }
}

impl FromStr for OriginPattern {
    type Err = InvalidOrigin;

    fn from_str(written: &str) -> Result<Self, InvalidOrigin> {
        let matcher = Self::matcher(written);
        let written = written.to_owned();
        match matcher {
            Some(matcher) => Ok(Self { written, matcher }),
            None => Err(InvalidOrigin { written }),
        }
    }
}

impl schemars::JsonSchema for OriginPattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OriginPattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": r"^(\*|https?://[^\s@\\%?#]+)$"})
    }
}

impl TryFrom<String> for OriginPattern {
    type Error = InvalidOrigin;

    fn try_from(written: String) -> Result<Self, InvalidOrigin> {
        written.parse()
    }
}

impl From<OriginPattern> for String {
    fn from(pattern: OriginPattern) -> Self {
        pattern.written
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}
