//! Who is at the other end of a connection of the loopback.
//!
//! Any program of the machine can connect to a port, and would have the page's way
//! to the network. The system's own table says whose a socket is.

use std::{io, net::SocketAddr};

/// Whether the socket at `peer` that is connected to `own` is one of this user.
///
/// # Errors
/// Where that cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn is_of(peer: SocketAddr, own: SocketAddr, user: Option<u32>) -> io::Result<bool> {
    let user = user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
    table::owner(peer, own).map(|owner| owner == Some(user))
}

/// Elsewhere nobody is told apart, and so nobody is served.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_of(_peer: SocketAddr, _own: SocketAddr, _user: Option<u32>) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
mod table {
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

    #[cfg(test)]
    mod tests {
        use std::net::{TcpListener, TcpStream};

        use super::*;

        #[test]
        fn the_owner_of_a_connection_is_told_and_that_of_one_that_ended_is_not() {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let own = listener.local_addr().expect("an address");
            for target in [own, format!("[::ffff:127.0.0.1]:{}", own.port()).parse().expect("an address")] {
                let Ok(client) = TcpStream::connect(target) else { continue };
                let (_accepted, peer) = listener.accept().expect("a connection");
                assert_eq!(owner(peer, own).expect("a table"), Some(rustix::process::geteuid().as_raw()));
                // The accepted socket is ours too, and is not what is asked for.
                assert_eq!(owner(own, own).expect("a table"), None);
                drop(client);
                assert_eq!(owner(peer, own).expect("a table"), None);
            }
        }
    }
}
