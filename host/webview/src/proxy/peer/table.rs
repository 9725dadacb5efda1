//! The system's table of sockets, as a text: for systems that answer no questions.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

/// `TCP_ESTABLISHED`. A socket in any other state may have been let go of by its
/// program, and is listed as root's then.
const ESTABLISHED: &str = "01";

/// The user whose socket is connected from `peer` to `own`.
pub(super) fn owner(peer: SocketAddr, own: SocketAddr) -> io::Result<Option<u32>> {
    // The second one has those sockets of IPv6 that speak to IPv4.
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let table = match File::open(path) {
            Ok(table) => table,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.ends_with('6') => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::new(table).lines() {
            if let Some(user) = row(&line?, peer, own) {
                return Ok(Some(user));
            }
        }
    }
    Ok(None)
}

/// The user of a row that is this connection, seen from its beginning.
fn row(line: &str, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let mut columns = line.split_ascii_whitespace().skip(1);
    let local = columns.next().and_then(address)?;
    let remote = columns.next().and_then(address)?;
    let state = columns.next()?;
    // Queues, timer, retransmits.
    let user = columns.nth(3)?.parse().ok()?;
    let (peer, own) = ((peer.ip().to_canonical(), peer.port()), (own.ip().to_canonical(), own.port()));
    (local == peer && remote == own && state == ESTABLISHED).then_some(user)
}

/// `0100007F:1F90`: words of the address as this machine has them in memory, and
/// the port.
fn address(column: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = column.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for index in 0..4 {
                bytes[index * 4..][..4].copy_from_slice(&word(index * 8)?);
            }
            IpAddr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some((address, port))
}
