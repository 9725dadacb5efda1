//! Where a server listens: a port, or a socket in the file system.

use std::{
    fmt,
    net::SocketAddr,
    path::{self, PathBuf},
    str::FromStr,
};

/// What a path begins with where a text may be either.
const UNIX: &str = "unix:";

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpAddress {
    /// A port; 0 is any free one.
    Port(SocketAddr),
    /// A socket that the user of this host alone can reach.
    Socket(PathBuf),
}

/// Why a text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an address is `ADDRESS:PORT`, such as `127.0.0.1:0`, or `unix:` and a path")]
pub struct InvalidAddress;

impl HttpAddress {
    /// The port, where it is one.
    #[must_use]
    pub fn port(&self) -> Option<SocketAddr> {
        match self {
            Self::Port(address) => Some(*address),
            Self::Socket(_) => None,
        }
    }

    /// Whether only this machine reaches it.
    pub(crate) fn is_local(&self) -> bool {
        self.port().is_none_or(|address| address.ip().is_loopback())
    }
}

impl FromStr for HttpAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        match text.strip_prefix(UNIX) {
            // From here on it does not depend on where the host was started.
            Some(path) => path::absolute(path).map(Self::Socket).map_err(|_| InvalidAddress),
            None => text.parse().map(Self::Port).map_err(|_| InvalidAddress),
        }
    }
}

impl From<SocketAddr> for HttpAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Port(address)
    }
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(address) => address.fmt(formatter),
            Self::Socket(path) => write!(formatter, "{UNIX}{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_port_or_a_path() {
        for text in ["127.0.0.1:8080", "[::1]:0", "unix:/run/wharf.sock"] {
            assert_eq!(text.parse::<HttpAddress>().map(|address| address.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "8080", "localhost:80", "unix:", "/run/wharf.sock"] {
            assert_eq!(text.parse::<HttpAddress>(), Err(InvalidAddress), "{text}");
        }
        let here = path::absolute("wharf.sock").expect("there is a directory");
        assert_eq!("unix:wharf.sock".parse(), Ok(HttpAddress::Socket(here)));
        let local = |text: &str| text.parse::<HttpAddress>().is_ok_and(|address| address.is_local());
        assert!(local("127.0.0.1:1") && local("unix:/x") && !local("0.0.0.0:1"));
    }
}
