//! Where the socket of a host is, and the secret beside it.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd as _, unix::net::UnixStream},
    path::{Path, PathBuf},
};

/// Where hosts have their directories, below the data directory.
pub(super) const HOSTS: &str = "hosts";
/// The socket of a host.
pub(super) const SOCKET: &str = "control";
/// What opens it.
pub(super) const SECRET: &str = "secret";

/// The path of a host's socket, as short as the system wants it (108 bytes)
/// wherever the directory is. It is good as long as the file is open.
pub(super) fn socket_path(directory: &Path) -> io::Result<(File, PathBuf)> {
    let open = File::open(directory)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(SOCKET);
    Ok((open, path))
}

/// Whether somebody listens there. A host has nothing to do with who connects
/// and says nothing.
pub(super) fn is_alive(directory: &Path) -> bool {
    socket_path(directory).is_ok_and(|(_open, path)| UnixStream::connect(path).is_ok())
}
