//! Requests that showed nothing which opens what they asked for: why, and from how near.
//!
//! Neither a token, a secret nor an address is ever part of it.

/// Takes what was refused; it returns at once.
pub trait RefusalSink: Send + Sync + 'static {
    /// A request was refused for want of a token or a secret that opens it.
    fn refused(&self, why: RefusedFor, from: PeerClass);
}

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusedFor {
    /// It showed none.
    NoToken,
    /// It showed one that opens nothing here.
    WrongToken,
    /// It showed one that holds, and that its issuer has given no right to this host.
    MissingScope,
    /// It came to the operator's socket, with another secret than the host's.
    WrongSecret,
}

impl RefusedFor {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoToken => "no-token",
            Self::WrongToken => "wrong-token",
            Self::MissingScope => "missing-scope",
            Self::WrongSecret => "wrong-secret",
        }
    }
}

/// From how near a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PeerClass {
    /// By a socket in the file system.
    Socket,
    /// From this machine.
    Loopback,
    /// From an address that is not routed in the internet.
    Private,
    /// From anywhere else.
    Public,
    /// Nobody knows.
    Unknown,
}

impl PeerClass {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Public => "public",
            Self::Unknown => "unknown",
        }
    }
}
