//! Standard output that is a file: how much of a write arrived is known exactly, so that
//! a full disk cuts no message. Pipes and terminals are the protocol crate's.

use std::{
    fs::File,
    io::{self, Write as _},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::AsyncWrite;

/// A file that is written where it is asked for: the system takes it at once.
#[derive(Debug)]
pub(super) struct FileOutput(File);

impl FileOutput {
    /// Standard output, where it is a file.
    #[cfg(unix)]
    pub(super) fn of_standard_output() -> Option<Self> {
        use std::os::fd::AsFd as _;
        let file = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(Self(file))
    }

    /// Standard output, where it is a file: nobody looks here.
    #[cfg(not(unix))]
    pub(super) fn of_standard_output() -> Option<Self> {
        None
    }
}

impl AsyncWrite for FileOutput {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
