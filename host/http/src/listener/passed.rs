//! A socket that another program made and listens at, such as systemd, and passed on to this one.

use std::{
    io,
    net::TcpListener as BlockingTcpListener,
    os::{
        fd::OwnedFd,
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr as UnixAddress, UnixListener as BlockingUnixListener},
    },
    path::PathBuf,
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketType, sockopt},
};
use tokio::net::{TcpListener, UnixListener};

use super::{BUFFER_BYTES, HttpError, HttpListener, address::HttpAddress, socket::SocketListener, tls::Tls};
use crate::settings::HttpSettings;

/// A socket that takes connections already, of TCP or in the file system.
#[derive(Debug)]
pub struct PassedSocket {
    listener: BlockingListener,
    address: HttpAddress,
}

#[derive(Debug)]
enum BlockingListener {
    Port(BlockingTcpListener),
    Socket(BlockingUnixListener),
}

/// Why no connections can be taken from a descriptor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableSocket {
    /// It is a file, a pipe or the like.
    #[error("it is no socket")]
    NoSocket,
    /// It is a socket of datagrams or packets.
    #[error("it is no stream socket, which in a unit of systemd is ListenStream=")]
    NoStream,
    /// It is a connection, or bound alone.
    #[error("it does not listen; with Accept=yes in its unit, systemd passes a connection")]
    NotListening,
    /// It is of another family than TCP and Unix.
    #[error("it is a socket of neither TCP nor Unix")]
    OtherFamily,
    /// The system does not say what it is, or does not let it be used.
    #[error("the system refuses what has to be known of it")]
    Refused {
        /// The system's reason.
        source: io::Error,
    },
}

impl From<Errno> for UnusableSocket {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOTSOCK => Self::NoSocket,
            error => refused(error.into()),
        }
    }
}

impl PassedSocket {
    /// Takes a socket over, once it is what connections come from. Its file, where it has one, stays
    /// when it is closed: it belongs to who made it.
    ///
    /// # Errors
    /// Where it is something else.
    pub fn new(socket: OwnedFd) -> Result<Self, UnusableSocket> {
        if sockopt::socket_type(&socket)? != SocketType::STREAM {
            return Err(UnusableSocket::NoStream);
        }
        if !sockopt::socket_acceptconn(&socket)? {
            return Err(UnusableSocket::NotListening);
        }
        // The runtime waits for connections, and none of its threads may.
        rustix::io::ioctl_fionbio(&socket, true)?;
        match rustix::net::getsockname(&socket)?.address_family() {
            AddressFamily::INET | AddressFamily::INET6 => {
                // As of a port that this program opens.
                sockopt::set_socket_send_buffer_size(&socket, BUFFER_BYTES)?;
                let listener = BlockingTcpListener::from(socket);
                let address = HttpAddress::Port(listener.local_addr().map_err(refused)?);
                Ok(Self { listener: BlockingListener::Port(listener), address })
            }
            AddressFamily::UNIX => {
                let listener = BlockingUnixListener::from(socket);
                let address = HttpAddress::Socket(path_of(&listener.local_addr().map_err(refused)?));
                Ok(Self { listener: BlockingListener::Socket(listener), address })
            }
            _ => Err(UnusableSocket::OtherFamily),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &HttpAddress {
        &self.address
    }

    /// Has the runtime wait for its connections.
    pub(super) fn listen(self, settings: &HttpSettings) -> Result<(HttpListener, HttpAddress), HttpError> {
        let Self { listener, address } = self;
        let listening = match listener {
            BlockingListener::Port(listener) => {
                let tls = settings.tls.as_ref().map(Tls::acceptor);
                TcpListener::from_std(listener).map(|listener| HttpListener::Port(listener, tls))
            }
            BlockingListener::Socket(listener) => UnixListener::from_std(listener)
                .map(|listener| HttpListener::Socket(SocketListener::of_another_program(listener))),
        };
        match listening {
            Ok(listening) => Ok((listening, address)),
            Err(source) => Err(HttpError::Listen { address, source }),
        }
    }
}

fn refused(source: io::Error) -> UnusableSocket {
    UnusableSocket::Refused { source }
}

/// The path of a socket; one without a file has a name that begins with `@`, as systemd writes it.
fn path_of(address: &UnixAddress) -> PathBuf {
    match (address.as_pathname(), address.as_abstract_name()) {
        (Some(path), _) => path.to_owned(),
        (None, name) => format!("@{}", String::from_utf8_lossy(name.unwrap_or_default())).into(),
    }
}
