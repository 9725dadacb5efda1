//! Sockets of Unix, in the directory of their host.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

pub(in super::super) use tokio::net::unix::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::SOCKET;

/// Whether hosts have sockets here.
pub(in super::super) fn check() -> io::Result<()> {
    Ok(())
}

/// The socket of a host that listens.
#[derive(Debug)]
pub(in super::super) struct LocalListener(UnixListener);

impl LocalListener {
    /// Listens in the directory of a host.
    pub(in super::super) fn bind(directory: &Path) -> io::Result<Self> {
        let (_open, path) = socket_path(directory)?;
        Ok(Self(UnixListener::bind(path)?))
    }

    pub(in super::super) async fn accept(&self) -> io::Result<LocalStream> {
        self.0.accept().await.map(|(stream, _)| LocalStream(stream))
    }
}

/// A connection between a host and a command.
#[derive(Debug)]
pub(in super::super) struct LocalStream(UnixStream);

impl LocalStream {
    /// Connects to the host of a directory.
    pub(in super::super) async fn connect(directory: &Path) -> io::Result<Self> {
        let (_open, path) = socket_path(directory)?;
        Ok(Self(UnixStream::connect(path).await?))
    }

    pub(in super::super) fn into_split(self) -> (ReadHalf, WriteHalf) {
        self.0.into_split()
    }
}

/// Whether a host listens there. The host does nothing for a client that
/// connects and says nothing.
pub(in super::super) fn is_alive(directory: &Path) -> bool {
    socket_path(directory).is_ok_and(|(_open, path)| std::os::unix::net::UnixStream::connect(path).is_ok())
}

/// The path of a host's socket, as short as the system wants it (108 bytes)
/// wherever the directory is. It is good as long as the file is open.
#[cfg(target_os = "linux")]
fn socket_path(directory: &Path) -> io::Result<(File, PathBuf)> {
    use std::os::fd::AsRawFd as _;

    let open = File::open(directory)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(SOCKET);
    Ok((open, path))
}

/// The path of a host's socket, which the system refuses beyond some 100 bytes.
#[cfg(not(target_os = "linux"))]
fn socket_path(directory: &Path) -> io::Result<(File, PathBuf)> {
    Ok((File::open(directory)?, directory.join(SOCKET)))
}
