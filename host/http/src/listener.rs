//! Taking an address, and connections to it.

pub(crate) mod address;
pub(crate) mod client_certificate;
#[cfg(target_os = "linux")]
pub(crate) mod passed;
#[cfg(unix)]
mod socket;
pub(crate) mod tls;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::settings::HttpSettings;
use address::HttpAddress;
use client_certificate::ConnectionCertificate;

/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1_024;

/// What the system keeps for a client that reads slowly.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Others could read the token on its way.
    #[error(
        "{address} can be reached from other machines, and the token would travel unprotected; serve an address of the loopback, give a certificate, or allow it in so many words"
    )]
    Public {
        /// What was asked for.
        address: HttpAddress,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// What was asked for.
        address: HttpAddress,
        /// The system's reason.
        source: io::Error,
    },
}

/// What takes connections.
pub(crate) enum HttpListener {
    Port(TcpListener, Option<TlsAcceptor>),
    #[cfg(unix)]
    Socket(socket::SocketListener),
}

/// A connection whose client has not said anything yet.
pub(crate) enum AcceptedConnection {
    Port(TcpStream, Option<TlsAcceptor>),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
}

impl HttpListener {
    /// Takes an address, and says which one it is.
    pub(crate) fn bind(address: HttpAddress, settings: &HttpSettings) -> Result<(Self, HttpAddress), HttpError> {
        refuse_unprotected(&address, settings)?;
        let bound = match &address {
            HttpAddress::Port(port) => listen(*port).map(|listener| {
                let bound = listener.local_addr().map_or_else(|_| address.clone(), HttpAddress::Port);
                let tls = settings.tls.as_ref().map(tls::Tls::acceptor);
                (Self::Port(listener, tls), bound)
            }),
            #[cfg(unix)]
            HttpAddress::Socket(path) => {
                socket::SocketListener::bind(path).map(|listener| (Self::Socket(listener), address.clone()))
            }
            #[cfg(not(unix))]
            HttpAddress::Socket(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        bound.map_err(|source| HttpError::Listen { address, source })
    }

    /// Takes over a socket that listens already, and says where.
    #[cfg(target_os = "linux")]
    pub(crate) fn passed(
        socket: passed::PassedSocket,
        settings: &HttpSettings,
    ) -> Result<(Self, HttpAddress), HttpError> {
        refuse_unprotected(socket.address(), settings)?;
        socket.listen(settings)
    }

    /// The next connection, and the address that it comes from; none from a socket.
    pub(crate) async fn accept(&self) -> io::Result<(AcceptedConnection, Option<IpAddr>)> {
        match self {
            Self::Port(listener, tls) => {
                let (stream, peer) = listener.accept().await?;
                Ok((AcceptedConnection::Port(stream, tls.clone()), Some(peer.ip())))
            }
            #[cfg(unix)]
            Self::Socket(listener) => Ok((AcceptedConnection::Socket(listener.accept().await?), None)),
        }
    }
}

fn refuse_unprotected(address: &HttpAddress, settings: &HttpSettings) -> Result<(), HttpError> {
    if !address.is_local() && !settings.allow_public && settings.tls.is_none() {
        return Err(HttpError::Public { address: address.clone() });
    }
    Ok(())
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port that was served a moment ago can be served again.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections inherit it: the system would keep megabytes for a slow client.
    socket.set_send_buffer_size(u32::try_from(BUFFER_BYTES).unwrap_or(u32::MAX))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The handshake, which may take as long as a request may arrive, and the certificate that the client shows.
pub(crate) async fn tls_handshake(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    arrival: Duration,
) -> Option<(tokio_rustls::server::TlsStream<TcpStream>, ConnectionCertificate)> {
    match timeout(arrival, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let certificate = ConnectionCertificate::of(stream.get_ref().1);
            Some((stream, certificate))
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, "a client does not speak TLS as this host does");
            None
        }
        Err(_) => None,
    }
}
