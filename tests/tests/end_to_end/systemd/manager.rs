//! What of systemd a service meets: the socket that it tells its state, and a socket that it is passed.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::net::UnixDatagram,
    },
    path::PathBuf,
};

use tempfile::TempDir;
use wharf_tests::{AMPLE, Command};

/// Passes what a command has as its standard input, under the name `wharf.socket`.
pub(super) const PASSING: &str = "export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=wharf.socket; \
                                  exec \"$@\" 3<&0 0</dev/null";

/// Who is told.
pub(super) struct Manager {
    folder: TempDir,
    socket: UnixDatagram,
}

impl Manager {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let socket = UnixDatagram::bind(folder.path().join("notify")).expect("made");
        socket.set_read_timeout(Some(AMPLE)).expect("a timeout can be set");
        Self { folder, socket }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("notify")
    }

    /// Has a command tell it.
    pub(super) fn of(&self, command: Command) -> Command {
        command.env("NOTIFY_SOCKET", self.socket().to_str().expect("text"))
    }

    /// The next message, by lines.
    pub(super) fn message(&self) -> Vec<String> {
        let mut message = [0; 4096];
        let length = self.socket.recv(&mut message).expect("told");
        let message = std::str::from_utf8(&message[..length]).expect("text");
        message.lines().map(str::to_owned).collect()
    }

    /// All messages up to the one with this line, which is the last.
    pub(super) fn until(&self, line: &str) -> Vec<Vec<String>> {
        let mut messages = Vec::new();
        while !messages.last().is_some_and(|last: &Vec<String>| last.iter().any(|said| said == line)) {
            messages.push(self.message());
        }
        messages
    }
}

/// A socket that outlives the hosts it is passed to.
pub(super) struct Activation {
    listener: TcpListener,
}

impl Activation {
    pub(super) fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").expect("a port") }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("an address")
    }

    /// What is passed.
    pub(super) fn socket(&self) -> OwnedFd {
        self.listener.try_clone().expect("a copy").into()
    }

    /// How `/proc` names it in each process that has it.
    pub(super) fn name(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/self/fd/{}", self.listener.as_raw_fd())).expect("open")
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("no connection is refused");
        stream.set_read_timeout(Some(AMPLE)).expect("a timeout can be set");
        stream
    }
}
