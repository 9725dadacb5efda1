//! Systems without sockets of Unix: no host listens, and no command connects.

use std::{convert::Infallible, io, path::Path};

/// What a command would read from a host.
pub(in super::super) type ReadHalf = tokio::io::Empty;
/// What a command would write to a host.
pub(in super::super) type WriteHalf = tokio::io::Sink;

/// Refuses.
pub(in super::super) fn check() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "commands reach a running host over a socket of Unix only"))
}

/// The socket of a host that listens; this system has none.
#[derive(Debug)]
pub(in super::super) struct LocalListener(Infallible);

impl LocalListener {
    /// Refuses.
    pub(in super::super) fn bind(_: &Path) -> io::Result<Self> {
        check().and(Err(io::ErrorKind::Unsupported.into()))
    }

    pub(in super::super) async fn accept(&self) -> io::Result<LocalStream> {
        match self.0 {}
    }
}

/// A connection between a host and a command; this system has none.
#[derive(Debug)]
pub(in super::super) struct LocalStream(Infallible);

impl LocalStream {
    /// Refuses.
    pub(in super::super) async fn connect(_: &Path) -> io::Result<Self> {
        check().and(Err(io::ErrorKind::Unsupported.into()))
    }

    pub(in super::super) fn into_split(self) -> (ReadHalf, WriteHalf) {
        match self.0 {}
    }
}

/// Nobody listens.
pub(in super::super) fn is_alive(_: &Path) -> bool {
    false
}
