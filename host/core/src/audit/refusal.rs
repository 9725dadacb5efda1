//! Requests over HTTP or over the operator's socket that were not served: why, and from where.
//!
//! Neither a token nor a secret is ever part of it.

use std::net::IpAddr;

use super::Requester;
use crate::TenantId;

/// Takes what was refused; it returns at once.
pub trait RefusalSink: Send + Sync + 'static {
    /// A request was refused.
    fn refused(&self, refusal: Refusal);
}

/// A request that was refused before anything looked at what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Refusal {
    /// What was wrong.
    pub why: RefusedFor,
    /// From how near it came.
    pub from: PeerClass,
    /// Who sent it, as far as that is known.
    pub requester: Requester,
    /// The tenant of its token, where that holds.
    pub tenant: Option<TenantId>,
}

impl Refusal {
    /// A request of a stranger.
    #[must_use]
    pub fn of_stranger(why: RefusedFor, from: PeerClass, address: Option<IpAddr>) -> Self {
        Self { why, from, requester: Requester { address, ..Requester::default() }, tenant: None }
    }
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
    /// Its token sends more requests in a second than it may.
    TooManyRequests,
    /// Its address has shown so many wrong tokens that no other of it is looked at for a while.
    TooManyWrongTokens,
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
            Self::TooManyRequests => "too-many-requests",
            Self::TooManyWrongTokens => "too-many-wrong-tokens",
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
