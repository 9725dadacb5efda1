//! Who sent a request, as the transport found out, and not as the request says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// Who sent a request. All is absent where a program on this machine sent it over its own pipe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Requester {
    /// The operator's name for the token that it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Box<str>>,
    /// The subject of the token, where an authorization server issued it. Clean, and at most
    /// [`MAX_NAME_BYTES`](super::MAX_NAME_BYTES) long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Box<str>>,
    /// The address that it came from: of a proxy, where one stands before the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}

/// How much of the addresses of requests is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditAddresses {
    /// All of them.
    #[default]
    Full,
    /// Their networks: the first 24 bits of an IPv4 address, and 48 of an IPv6 address.
    Network,
    /// Nothing.
    None,
}

impl AuditAddresses {
    /// What is kept of an address.
    #[must_use]
    pub fn kept(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address) {
            (Self::None, _) => None,
            (Self::Full, address) => Some(address),
            (Self::Network, IpAddr::V4(address)) => Some(Ipv4Addr::from_bits(address.to_bits() & (!0 << 8)).into()),
            (Self::Network, IpAddr::V6(address)) => Some(Ipv6Addr::from_bits(address.to_bits() & (!0 << 80)).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_no_host() {
        let kept = |addresses: AuditAddresses, address: &str| {
            addresses.kept(address.parse().expect("an address")).map(|address| address.to_string())
        };
        assert_eq!(kept(AuditAddresses::Network, "203.0.113.77").as_deref(), Some("203.0.113.0"));
        assert_eq!(kept(AuditAddresses::Network, "2001:db8:1:2::77").as_deref(), Some("2001:db8:1::"));
        assert_eq!(kept(AuditAddresses::Full, "203.0.113.77").as_deref(), Some("203.0.113.77"));
        assert_eq!(kept(AuditAddresses::None, "203.0.113.77"), None);
    }
}
