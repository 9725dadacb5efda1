//! Finds the user at the other end of a connection of the loopback.
//!
//! Any program of the machine can connect to a port, and would have the page's way
//! to the network. The system says whose a socket is.

#[cfg(target_os = "linux")]
mod ask;
#[cfg(target_os = "linux")]
mod table;

use std::{io, net::SocketAddr};

/// Whether the socket at `peer` that is connected to `own` is one of this user.
///
/// # Errors
/// Where that cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn is_of(peer: SocketAddr, own: SocketAddr, user: Option<u32>) -> io::Result<bool> {
    let user = user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
    // Reading the table takes the longer the more sockets the machine has.
    let owner = ask::owner(peer, own).or_else(|_| table::owner(peer, own))?;
    Ok(owner == Some(user))
}

/// On other systems the host cannot tell whose a socket is, so no connection is served.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_of(_peer: SocketAddr, _own: SocketAddr, _user: Option<u32>) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::{ask, table};

    #[test]
    fn the_owner_of_a_connection_is_told_and_that_of_one_that_ended_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address");
        for owner in [ask::owner, table::owner] {
            for target in [own, format!("[::ffff:127.0.0.1]:{}", own.port()).parse().expect("an address")] {
                let Ok(client) = TcpStream::connect(target) else { continue };
                let (_accepted, peer) = listener.accept().expect("a connection");
                assert_eq!(owner(peer, own).expect("an answer"), Some(rustix::process::geteuid().as_raw()));
                // The socket that listens is ours too, and is not what is asked for.
                assert_eq!(owner(own, own).expect("an answer"), None);
                drop(client);
                assert_eq!(owner(peer, own).expect("an answer"), None);
            }
        }
    }
}
