//! What waits to be written to the client.
//!
//! Messages that become ready together leave in one write: the task that holds the
//! writer takes what others have queued meanwhile. What a full disk does not take
//! waits until it does, so that no message is cut or lost. Knows bytes, not messages.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::Notify,
};

/// A buffer that grew beyond this is given back once it is empty.
const KEPT_BYTES: usize = 256 * 1024;
/// How long a full disk is left alone before it is asked again.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(200);

/// The queue before one writer.
pub(super) struct Outbox<W> {
    // A blocking lock: held for a copy, never across an await.
    queued: Mutex<Vec<u8>>,
    writer: tokio::sync::Mutex<Option<Writer<W>>>,
    backlog_bytes: AtomicUsize,
    drained: Notify,
}

struct Writer<W> {
    stream: W,
    /// Taken from the queue; kept here, so that no byte is lost where a write
    /// is abandoned half-way.
    taken: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(stream: W) -> Self {
        Self {
            queued: Mutex::new(Vec::new()),
            writer: tokio::sync::Mutex::new(Some(Writer { stream, taken: Vec::new(), written: 0 })),
            backlog_bytes: AtomicUsize::new(0),
            drained: Notify::new(),
        }
    }

    /// Queues one line. Call [`Self::flush`] afterwards.
    pub(super) fn push(&self, line: &[u8]) {
        self.backlog_bytes.fetch_add(line.len(), Ordering::Relaxed);
        self.queued().extend_from_slice(line);
    }

    /// Bytes that the client has not taken yet.
    pub(super) fn backlog_bytes(&self) -> usize {
        self.backlog_bytes.load(Ordering::Relaxed)
    }

    /// Waits until at most `bytes` are left to write.
    pub(super) async fn below(&self, bytes: usize) {
        loop {
            let drained = self.drained.notified();
            if self.backlog_bytes() <= bytes {
                return;
            }
            drained.await;
        }
    }

    /// Writes what is queued, or leaves it to the task that is writing now.
    pub(super) async fn flush(&self) -> io::Result<()> {
        loop {
            // The task that holds the writer looks at the queue again after letting
            // go of it, so that nothing stays behind.
            let Ok(mut writer) = self.writer.try_lock() else { return Ok(()) };
            self.drain(&mut writer).await?;
            drop(writer);
            if self.queued().is_empty() {
                return Ok(());
            }
        }
    }

    /// Waits until everything queued is written, by this task or another.
    pub(super) async fn settle(&self) -> io::Result<()> {
        self.flush().await?;
        self.below(0).await;
        Ok(())
    }

    /// Writes everything, and drops the stream.
    pub(super) async fn close(&self) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let written = self.drain(&mut writer).await;
        *writer = None;
        written
    }

    async fn drain(&self, writer: &mut Option<Writer<W>>) -> io::Result<()> {
        let Some(Writer { stream, taken, written }) = writer else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut told = false;
        loop {
            if *written == taken.len() {
                taken.clear();
                taken.shrink_to(KEPT_BYTES);
                *written = 0;
                std::mem::swap(taken, &mut self.queued());
                if taken.is_empty() {
                    return stream.flush().await;
                }
            }
            let count = match stream.write(&taken[*written..]).await {
                Err(error) if is_full(&error) => {
                    if !std::mem::replace(&mut told, true) {
                        tracing::error!("answers wait, since there is no room where they are written: {error}");
                    }
                    tokio::time::sleep(FULL_DISK_PAUSE).await;
                    continue;
                }
                written => written?,
            };
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            *written += count;
            self.backlog_bytes.fetch_sub(count, Ordering::Relaxed);
            self.drained.notify_waiters();
        }
    }

    fn queued(&self) -> MutexGuard<'_, Vec<u8>> {
        self.queued.lock()
    }
}

/// Whether there may be room again later.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    use super::*;
    use tokio::io::AsyncReadExt;

    /// A disk that takes three bytes each time that somebody has made room.
    #[derive(Default)]
    struct Narrow {
        taken: Vec<u8>,
        is_full: bool,
    }

    impl AsyncWrite for Narrow {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.is_full = !self.is_full;
            if self.is_full {
                return Poll::Ready(Err(io::ErrorKind::StorageFull.into()));
            }
            let count = bytes.len().min(3);
            self.taken.extend_from_slice(&bytes[..count]);
            Poll::Ready(Ok(count))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_without_room_cuts_and_loses_no_message() {
        let mut disk = Narrow::default();
        let outbox = Outbox::new(&mut disk);
        for line in [b"0123456789\n".as_slice(), b"abcdef\n"] {
            outbox.push(line);
            outbox.flush().await.expect("written in the end");
        }
        assert_eq!(outbox.backlog_bytes(), 0);
        drop(outbox);
        assert_eq!(disk.taken, b"0123456789\nabcdef\n");
    }

    /// Polls once what is expected to wait.
    async fn waits(future: impl Future) -> bool {
        tokio::select! {
            biased;
            _ = future => false,
            () = std::future::ready(()) => true,
        }
    }

    #[tokio::test]
    async fn an_abandoned_write_loses_and_repeats_nothing() {
        let (stream, mut other) = tokio::io::duplex(4);
        let outbox = Outbox::new(stream);
        outbox.push(b"0123456789\n");
        assert!(waits(outbox.flush()).await, "the stream holds 4 bytes");
        let mut read = vec![0; 11];
        let (flushed, arrived) = tokio::join!(outbox.flush(), other.read_exact(&mut read));
        flushed.expect("written");
        arrived.expect("read");
        assert_eq!(read, b"0123456789\n");
        assert_eq!(outbox.backlog_bytes(), 0);
    }

    #[tokio::test]
    async fn who_waits_for_room_goes_on_when_the_client_has_read() {
        let (stream, mut other) = tokio::io::duplex(8);
        let outbox = Outbox::new(stream);
        outbox.push(&[b'x'; 100]);
        let mut room = std::pin::pin!(outbox.below(50));
        assert!(waits(&mut room).await);
        let mut writing = std::pin::pin!(outbox.flush());
        assert!(waits(&mut writing).await);
        assert!(waits(&mut room).await, "8 bytes are not enough");
        let mut read = [0; 100];
        let (written, (), arrived) = tokio::join!(writing, room, other.read_exact(&mut read));
        written.expect("written");
        arrived.expect("read");
    }

    #[tokio::test]
    async fn a_client_that_is_gone_is_an_error() {
        let (stream, other) = tokio::io::duplex(8);
        let outbox = Outbox::new(stream);
        drop(other);
        outbox.push(b"x\n");
        assert!(outbox.flush().await.is_err());
        let (stream, _other) = tokio::io::duplex(8);
        let outbox = Outbox::new(stream);
        outbox.close().await.expect("closes");
        outbox.push(b"x\n");
        assert_eq!(outbox.flush().await.map_err(|error| error.kind()), Err(io::ErrorKind::NotConnected));
    }
}
