//! Pipes of Windows, which block: the runtime reads and writes them on threads.
//!
//! A task does the writing, so that callers can try to write and do something else meanwhile.

use std::{
    io,
    pin::Pin,
    process,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::mpsc::{self, error::TrySendError},
};

/// Bytes that the task takes at once; one such chunk waits beside the one that is written.
const CHUNK_BYTES: usize = 64 << 10;

/// The writing end of a child's standard input. Dropping it closes the input once what was
/// taken is written.
#[derive(Debug)]
pub struct StdinPipe(mpsc::Sender<Vec<u8>>);

impl StdinPipe {
    fn to(mut pipe: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(1);
        tokio::spawn(async move {
            while let Some(chunk) = chunks.recv().await {
                // Flushing waits until the child's pipe has it.
                if pipe.write_all(&chunk).await.is_err() || pipe.flush().await.is_err() {
                    break;
                }
            }
        });
        Self(sender)
    }

    /// Writes as much as the pipe takes at once.
    ///
    /// # Errors
    /// `WouldBlock` where it takes nothing now, `BrokenPipe` where nobody reads it.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.try_reserve() {
            Ok(permit) => {
                let count = bytes.len().min(CHUNK_BYTES);
                permit.send(bytes[..count].to_vec());
                Ok(count)
            }
            Err(TrySendError::Full(())) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TrySendError::Closed(())) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits until the pipe takes more. Cancel-safe.
    ///
    /// # Errors
    /// `BrokenPipe` where nobody reads it.
    pub async fn writable(&self) -> io::Result<()> {
        self.0.reserve().await.map(drop).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// The reading end of a child's standard output or error.
#[derive(Debug)]
pub enum StdoutPipe {
    /// Of its standard output.
    Output(ChildStdout),
    /// Of its standard error.
    Errors(ChildStderr),
}

impl AsyncRead for StdoutPipe {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Output(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Self::Errors(pipe) => Pin::new(pipe).poll_read(context, buffer),
        }
    }
}

/// The streams of a child that are pipes and were not taken yet.
#[derive(Debug, Default)]
pub(crate) struct ChildPipes {
    stdin: Option<process::ChildStdin>,
    stdout: Option<process::ChildStdout>,
    stderr: Option<process::ChildStderr>,
}

impl ChildPipes {
    /// Those of a child of the standard library.
    pub(crate) fn of(child: &mut process::Child) -> Self {
        Self { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() }
    }

    pub(crate) fn take_stdin(&mut self) -> Option<StdinPipe> {
        self.stdin.take().and_then(|end| ChildStdin::from_std(end).ok()).map(StdinPipe::to)
    }

    pub(crate) fn take_stdout(&mut self) -> Option<StdoutPipe> {
        self.stdout.take().and_then(|end| ChildStdout::from_std(end).ok()).map(StdoutPipe::Output)
    }

    pub(crate) fn take_stderr(&mut self) -> Option<StdoutPipe> {
        self.stderr.take().and_then(|end| ChildStderr::from_std(end).ok()).map(StdoutPipe::Errors)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn what_is_written_arrives_in_order_and_a_full_pipe_is_waited_for() {
        let (near, mut far) = tokio::io::duplex(16);
        let pipe = StdinPipe::to(near);
        let sent: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
        let reading = tokio::spawn(async move {
            let mut came = Vec::new();
            far.read_to_end(&mut came).await.map(|_| came)
        });
        let (mut rest, mut waited) = (&sent[..], false);
        while !rest.is_empty() {
            match pipe.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    waited = true;
                    pipe.writable().await.expect("somebody reads");
                }
            }
        }
        drop(pipe);
        assert!(reading.await.expect("no panic").expect("read") == sent && waited);
    }

    #[tokio::test]
    async fn a_pipe_that_nobody_reads_is_broken() {
        let (near, far) = tokio::io::duplex(16);
        drop(far);
        let pipe = StdinPipe::to(near);
        // The first chunk finds out.
        pipe.try_write(b"text").expect("it is taken");
        while pipe.writable().await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert_eq!(pipe.try_write(b"text").expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }
}
