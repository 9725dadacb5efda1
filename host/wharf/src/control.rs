//! The way from the operator's commands to a host that runs: a local socket.
//!
//! Each host that serves has a directory of its own below `DATA/hosts`, with
//! the socket and a secret. Whoever asks must know the secret: a contained
//! child may be able to reach a socket by its path where it cannot read a file.
//! Nothing here can be reached from an agent's channel.

mod client;
mod server;
mod wire;

use std::{
    fs::File,
    io,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

pub use client::{Attachment, ControlError, Frame, RunningHost, ServedPlugins, running_hosts};
pub use server::Control;

/// Where hosts have their directories, below the data directory.
const HOSTS: &str = "hosts";
/// The socket of a host.
const SOCKET: &str = "control";
/// What opens it.
const SECRET: &str = "secret";

/// The path of a host's socket, as short as the system wants it (108 bytes)
/// wherever the directory is. It is good as long as the file is open.
fn socket_path(directory: &Path) -> io::Result<(File, PathBuf)> {
    let open = File::open(directory)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(SOCKET);
    Ok((open, path))
}
