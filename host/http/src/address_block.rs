//! The addresses that one party owns: all of them share a limit.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address, or a block of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AddressBlock {
    Address(Ipv4Addr),
    /// The first 64 bits, of which an owner has all that follow.
    Prefix(u64),
}

impl AddressBlock {
    /// That of an address; none where all clients of a machine have one address.
    pub(crate) fn of(address: IpAddr) -> Option<Self> {
        match address {
            _ if address.is_loopback() => None,
            IpAddr::V4(address) => Some(Self::Address(address)),
            IpAddr::V6(address) => Some(Self::Prefix(prefix(address))),
        }
    }
}

fn prefix(address: Ipv6Addr) -> u64 {
    u64::try_from(address.to_bits() >> 64).unwrap_or_default()
}
