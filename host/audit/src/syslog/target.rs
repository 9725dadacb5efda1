//! Where messages go: a datagram, a stream or a stream within TLS.

use std::{
    io::{self, Write as _},
    net::{TcpStream, ToSocketAddrs as _, UdpSocket},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::message::framed;

/// How long a receiver may take to accept a connection or a message.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address of a receiver: `udp://HOST:PORT`, `tcp://HOST:PORT`, `tls://HOST:PORT` or `unix:PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyslogAddress(Receiver);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Receiver {
    Udp(String, u16),
    Tcp(String, u16),
    Tls(String, u16),
    Unix(PathBuf),
}

/// This is no address of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write it as `udp://HOST`, `tcp://HOST:PORT`, `tls://HOST` or `unix:/dev/log`; the usual ports are 514 for udp and \
     6514 for tls"
)]
pub struct InvalidSyslogAddress;

impl FromStr for SyslogAddress {
    type Err = InvalidSyslogAddress;

    fn from_str(text: &str) -> Result<Self, InvalidSyslogAddress> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            return if path.is_absolute() { Ok(Self(Receiver::Unix(path))) } else { Err(InvalidSyslogAddress) };
        }
        let (scheme, place) = text.split_once("://").ok_or(InvalidSyslogAddress)?;
        let (host, port) = match place.rsplit_once(':') {
            // An address of IPv6 stands in brackets.
            Some((host, port)) if !port.contains(']') => (host, Some(port.parse().map_err(|_| InvalidSyslogAddress)?)),
            _ => (place, None),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_name) || port == Some(0) {
            return Err(InvalidSyslogAddress);
        }
        let host = host.to_owned();
        match (scheme, port) {
            ("udp", port) => Ok(Self(Receiver::Udp(host, port.unwrap_or(514)))),
            ("tcp", Some(port)) => Ok(Self(Receiver::Tcp(host, port))),
            ("tls", port) => Ok(Self(Receiver::Tls(host, port.unwrap_or(6514)))),
            _ => Err(InvalidSyslogAddress),
        }
    }
}

impl SyslogAddress {
    /// Whether messages travel as they are to where others may read them.
    #[must_use]
    pub fn is_unprotected(&self) -> bool {
        let (Receiver::Udp(host, _) | Receiver::Tcp(host, _)) = &self.0 else { return false };
        host != "localhost" && !host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self.0, Receiver::Tls(..))
    }
}

/// The certificates of `authority`, PEM, or those of the system.
pub(super) fn encryption(authority: Option<&[u8]>) -> Result<Arc<ClientConfig>, rustls::Error> {
    let unusable = |what: &str| rustls::Error::General(what.to_owned());
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    let builder = match authority {
        None => builder.with_platform_verifier()?,
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(authority) {
                roots.add(certificate.map_err(|error| unusable(&error.to_string()))?)?;
            }
            if roots.is_empty() {
                return Err(unusable("it has no certificate"));
            }
            builder.with_root_certificates(roots)
        }
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

/// An open way to a receiver.
pub(super) enum Opened {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixDatagram),
}

impl Opened {
    pub(super) fn open(address: &SyslogAddress, encryption: Option<&Arc<ClientConfig>>) -> io::Result<Self> {
        match &address.0 {
            Receiver::Udp(host, port) => {
                let to = (host.as_str(), *port).to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
                let any: std::net::IpAddr = match to {
                    std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
                    std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
                };
                let socket = UdpSocket::bind((any, 0))?;
                socket.connect(to)?;
                Ok(Self::Udp(socket))
            }
            Receiver::Tcp(host, port) => Ok(Self::Tcp(connected(host, *port)?)),
            Receiver::Tls(host, port) => {
                let config = encryption.ok_or(io::ErrorKind::Unsupported)?;
                let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                let connection = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
                let mut stream = StreamOwned::new(connection, connected(host, *port)?);
                // A wrong certificate shows now, and not with the first message.
                while stream.conn.is_handshaking() {
                    stream.conn.complete_io(&mut stream.sock)?;
                }
                Ok(Self::Tls(Box::new(stream)))
            }
            #[cfg(unix)]
            Receiver::Unix(path) => {
                let socket = std::os::unix::net::UnixDatagram::unbound()?;
                socket.set_write_timeout(Some(PATIENCE))?;
                socket.connect(path)?;
                Ok(Self::Unix(socket))
            }
            #[cfg(not(unix))]
            Receiver::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Udp(socket) => socket.send(message).map(drop),
            Self::Tcp(stream) => {
                is_there(stream)?;
                stream.write_all(&framed(message))
            }
            Self::Tls(stream) => {
                is_there_encrypted(stream)?;
                stream.write_all(&framed(message))?;
                stream.flush()
            }
            #[cfg(unix)]
            Self::Unix(socket) => socket.send(message).map(drop),
        }
    }
}

fn connected(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_write_timeout(Some(PATIENCE))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A receiver says nothing, so that it has gone shows only where somebody looks: a write to a connection that
/// the other side has closed would succeed once, and the message be lost.
fn is_there(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let seen = stream.peek(&mut [0]);
    stream.set_nonblocking(false)?;
    match seen {
        Ok(0) => Err(io::ErrorKind::ConnectionReset.into()),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

/// The same within TLS, where a receiver says something of its own.
fn is_there_encrypted(stream: &mut StreamOwned<ClientConnection, TcpStream>) -> io::Result<()> {
    stream.sock.set_nonblocking(true)?;
    let seen = loop {
        match stream.conn.read_tls(&mut stream.sock) {
            Ok(0) => break Err(io::ErrorKind::ConnectionReset.into()),
            Ok(_) => match stream.conn.process_new_packets() {
                Ok(state) if state.peer_has_closed() => break Err(io::ErrorKind::ConnectionReset.into()),
                Ok(_) => {}
                Err(error) => break Err(io::Error::other(error)),
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    stream.sock.set_nonblocking(false)?;
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_way_and_a_place() {
        let udp = |host: &str, port| SyslogAddress(Receiver::Udp(host.to_owned(), port));
        let parse = |text: &str| text.parse::<SyslogAddress>();
        assert_eq!(parse("udp://log.example"), Ok(udp("log.example", 514)));
        assert_eq!(parse("udp://[::1]:5514"), Ok(udp("::1", 5514)));
        assert_eq!(parse("udp://[::1]"), Ok(udp("::1", 514)));
        assert_eq!(parse("tcp://10.0.0.1:601"), Ok(SyslogAddress(Receiver::Tcp("10.0.0.1".to_owned(), 601))));
        assert_eq!(parse("tls://log.example"), Ok(SyslogAddress(Receiver::Tls("log.example".to_owned(), 6514))));
        assert_eq!(parse("unix:/dev/log"), Ok(SyslogAddress(Receiver::Unix("/dev/log".into()))));
        for bad in [
            "",
            "log.example",
            "tcp://log.example",
            "http://x:1",
            "udp://",
            "udp://a b",
            "udp://x:0",
            "udp://x:y",
            "udp://user@x",
            "unix:log",
            "tls://x/y",
        ] {
            assert_eq!(parse(bad), Err(InvalidSyslogAddress), "{bad}");
        }
        let is_unprotected = |text: &str| parse(text).expect("an address").is_unprotected();
        assert!(is_unprotected("udp://10.0.0.1") && is_unprotected("tcp://log.example:601"));
        for protected in ["udp://127.0.0.1", "udp://localhost", "tls://log.example", "unix:/dev/log"] {
            assert!(!is_unprotected(protected), "{protected}");
        }
    }
}
