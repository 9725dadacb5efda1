//! Where the socket of a host is, and the secret beside it.
//!
//! A host and its operator's commands speak over sockets of Unix. On Windows no host opens
//! one, and commands find none.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use elsewhere::{LocalListener, LocalStream, ReadHalf, WriteHalf, check, is_alive};
#[cfg(unix)]
pub(super) use unix::{LocalListener, LocalStream, ReadHalf, WriteHalf, check, is_alive};

/// Where hosts have their directories, below the data directory.
pub(super) const HOSTS: &str = "hosts";
/// The socket of a host.
pub(super) const SOCKET: &str = "control";
/// Which version of this library the host has.
pub(super) const VERSION: &str = "version";
/// What opens it.
pub(super) const SECRET: &str = "secret";
