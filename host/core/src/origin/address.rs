//! Which addresses are not of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is of this machine, of a private network or otherwise not
/// of the public internet: what the special-purpose registries of IANA (RFC 6890
/// and its updates) list as not globally reachable, multicast, addresses of IPv6
/// that stand for one of IPv4 that is, and the one public address that a cloud
/// gives a service of its machines.
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

/// Serves the machines of Azure with what others have at 169.254.169.254.
const AZURE: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || address == AZURE
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(inner) = embedded_v4(segments) {
        return is_private_v4(inner);
    }
    // Only 2000::/3 is given out, and of it these are for other purposes.
    segments[0] & 0xe000 != 0x2000
        || (segments[0] == 0x2001 && segments[1] < 0x0200)
        || (segments[0] == 0x2001 && segments[1] == 0x0db8)
        || (segments[0] == 0x3fff && segments[1] < 0x1000)
}

/// The address of IPv4 that a gateway or the system makes of one of IPv6: mapped,
/// translated (64:ff9b::/96) or 6to4 (2002::/16).
fn embedded_v4(segments: [u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(join(high, low))
        }
        _ => None,
    }
}
