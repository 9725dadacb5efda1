//! Hosts of a policy as requests of a grant.
//!
//! A host of a policy may be reached by every scheme, port and method. Ours are those of
//! `https` on its usual port, which is less. What a rule of `deny` may touch is not granted,
//! since a grant has no exceptions.

use std::net::{IpAddr, Ipv4Addr};

use wharf::grant::{RequestPattern, is_private};

use super::NetworkRule;

/// Networks of which no address is reached without `private_addresses`. A test holds them against the
/// rule of the host.
const PRIVATE: [(Ipv4Addr, u32); 8] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Why such a host is not granted.
const PRIVATE_HOST: &str = "it is of this machine or of a private network, and a grant that reaches one of those \
                            (`private_addresses`) reaches them all";

/// A host, or all below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostRule {
    scheme: &'static str,
    below: bool,
    name: String,
    /// With the colon; empty for the usual one.
    port: String,
}

/// Which hosts a rule of `deny` may touch.
#[derive(Debug)]
pub(super) enum Denial {
    /// These alone.
    Hosts(HostRule),
    /// Addresses that grants reach only with `private_addresses`.
    Held,
    /// Any: what it names cannot be told apart from others.
    Any(&'static str),
}

impl HostRule {
    /// What a `host` of a policy names; the error says why no grant can name it.
    pub(super) fn read(written: &str) -> Result<Self, &'static str> {
        let lower = written.to_ascii_lowercase();
        let (scheme, rest) = match lower.split_once("://") {
            Some(("https", rest)) => ("https", rest),
            Some(("http", rest)) => ("http", rest),
            Some(_) => return Err("only http and https are sent"),
            None => ("https", lower.as_str()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest == "*" {
            return Err("every host is more than a policy should say; name those that it needs");
        }
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if rest.contains('*') {
            return Err("a wildcard stands for all that is below a name alone, as in *.example.com");
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        if rest.is_empty() || !rest.bytes().all(plain) {
            return Err(
                "it is no name of a host; one with other letters is written in ASCII, as xn--…, and has no path",
            );
        }
        let at = rest.rfind(']').map_or(0, |bracket| bracket + 1);
        let (name, port) = rest.split_at(rest[at..].find(':').map_or(rest.len(), |colon| at + colon));
        let name = name.trim_end_matches('.');
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        if name == "localhost" || address.is_some_and(is_held) {
            return Err(PRIVATE_HOST);
        }
        // Each host in one writing, so that what is denied is found in what is allowed.
        let name = match address {
            Some(IpAddr::V6(address)) => format!("[{address}]"),
            Some(IpAddr::V4(address)) => address.to_string(),
            None if is_number(name) => return Err("an address is written as four numbers"),
            None => name.to_owned(),
        };
        let rule = Self { scheme, below, name, port: port.to_owned() };
        // Whatever else an origin may not be.
        rule.request().parse::<RequestPattern>().map_err(|_| "it is no name of a host")?;
        Ok(rule)
    }

    /// The request that a grant names.
    pub(super) fn request(&self) -> String {
        let Self { scheme, below, name, port } = self;
        format!("* {scheme}://{}{name}{port}", if *below { "*." } else { "" })
    }

    /// What of it is granted, in words.
    pub(super) fn words(&self) -> String {
        let names = if self.below { "every name below it, not itself; " } else { "" };
        let port = if self.port.is_empty() { "its usual port" } else { "that port" };
        format!("{names}every method, {} alone, on {port}, and no private address", self.scheme)
    }

    fn touches(&self, other: &Self) -> bool {
        let ends = |name: &str, end: &str| {
            name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        match (self.below, other.below) {
            (false, false) => self.name == other.name,
            (true, false) => ends(&other.name, &self.name),
            (false, true) => ends(&self.name, &other.name),
            (true, true) => ends(&other.name, &self.name) || ends(&self.name, &other.name),
        }
    }
}

/// Whether a URL takes it for an address of IPv4, however that is written.
fn is_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the host reaches an address with `private_addresses` alone. One of IPv6 that stands for one of
/// IPv4 is written as that one.
fn is_held(address: IpAddr) -> bool {
    is_private(address) || matches!(address, IpAddr::V6(address) if address.segments()[0] & 0xe000 != 0x2000)
}

fn is_within(address: Ipv4Addr, network: Ipv4Addr, bits: u32) -> bool {
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or_default();
    u32::from(address) & mask == u32::from(network)
}

impl Denial {
    pub(super) fn read(rule: &NetworkRule) -> Self {
        match rule {
            NetworkRule { host: Some(host), .. } => {
                // What cannot be granted may be denied all the same.
                let rest = host.split_once("://").map_or(host.as_str(), |(_, rest)| rest);
                match HostRule::read(rest) {
                    Ok(rule) => Self::Hosts(rule),
                    Err(PRIVATE_HOST) => Self::Held,
                    Err(_) => Self::Any("its `deny` names a host that cannot be told apart from others"),
                }
            }
            NetworkRule { cidr: Some(cidr), .. } if is_private_range(cidr) => Self::Held,
            NetworkRule { cidr: Some(_), .. } => {
                Self::Any("its `deny` names addresses, and any host may turn out to have one of them")
            }
            NetworkRule { .. } => Self::Any("its `deny` names the default hosts, a list that is not in the policy"),
        }
    }

    /// Why a host is not granted.
    pub(super) fn refuses(&self, allowed: &HostRule) -> Option<&'static str> {
        match self {
            Self::Hosts(denied) => {
                denied.touches(allowed).then_some("its `deny` names some of it, and a grant has no exceptions")
            }
            Self::Held => None,
            Self::Any(why) => Some(why),
        }
    }
}

fn is_private_range(cidr: &str) -> bool {
    let Some((address, bits)) = cidr.split_once('/') else { return false };
    let (Ok(address), Ok(bits)) = (address.parse::<Ipv4Addr>(), bits.parse::<u32>()) else { return false };
    bits <= 32 && PRIVATE.iter().any(|(network, least)| bits >= *least && is_within(address, *network, *least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_reaches_no_address_of_a_private_network() {
        for (network, bits) in PRIVATE {
            let last = u32::from(network) | u32::MAX.checked_shr(bits).unwrap_or_default();
            for address in [network, Ipv4Addr::from(u32::from(network) + 1), Ipv4Addr::from(last)] {
                assert!(is_private(address.into()), "{address} of {network}/{bits}");
            }
        }
    }
}
