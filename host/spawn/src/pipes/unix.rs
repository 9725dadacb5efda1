//! Pipes of Unix, which the runtime watches.

use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::{Receiver, Sender};

/// The writing end of a child's standard input.
pub type StdinPipe = Sender;
/// The reading end of a child's standard output or error.
pub type StdoutPipe = Receiver;

/// The streams of a child that are pipes and were not taken yet.
#[derive(Debug, Default)]
pub(crate) struct ChildPipes {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

impl ChildPipes {
    /// Those of a child of the standard library.
    pub(crate) fn of(child: &mut std::process::Child) -> Self {
        Self {
            stdin: child.stdin.take().map(OwnedFd::from),
            stdout: child.stdout.take().map(OwnedFd::from),
            stderr: child.stderr.take().map(OwnedFd::from),
        }
    }

    pub(crate) fn take_stdin(&mut self) -> Option<StdinPipe> {
        self.stdin.take().and_then(|end| Sender::from_owned_fd(end).ok())
    }

    pub(crate) fn take_stdout(&mut self) -> Option<StdoutPipe> {
        self.stdout.take().and_then(|end| Receiver::from_owned_fd(end).ok())
    }

    pub(crate) fn take_stderr(&mut self) -> Option<StdoutPipe> {
        self.stderr.take().and_then(|end| Receiver::from_owned_fd(end).ok())
    }
}
