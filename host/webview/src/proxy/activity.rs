//! Whether anything still goes through a connection.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::sleep,
};

/// Counts what goes through all streams of one connection of the browser.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<AtomicU64>);

impl Activity {
    /// A stream that counts here.
    pub(super) fn of<S>(&self, stream: S) -> CountedStream<S> {
        CountedStream { stream, activity: self.clone() }
    }

    /// Returns once nothing went through for `time`, and at the latest after twice
    /// that.
    pub(super) async fn stops(&self, time: Duration) {
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            sleep(time).await;
            let now = self.0.load(Ordering::Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }

    fn happened(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream that says when something went through.
#[derive(Debug)]
pub(super) struct CountedStream<S> {
    stream: S,
    activity: Activity,
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let done = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.activity.happened();
        Poll::Ready(done)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        self.activity.happened();
        Poll::Ready(done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, bytes));
        self.activity.happened();
        Poll::Ready(done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_stops_only_once_nothing_went_through_for_the_whole_time() {
        let activity = Activity::default();
        let (one, _other) = duplex(64);
        let mut one = activity.of(one);
        let stops = activity.stops(Duration::from_secs(10));
        tokio::pin!(stops);
        for _ in 0..5 {
            one.write_all(b"x").await.expect("written");
            let still = tokio::time::timeout(Duration::from_secs(9), &mut stops).await;
            assert!(still.is_err(), "stopped although something went through");
        }
        let stopped = tokio::time::timeout(Duration::from_secs(21), stops).await;
        assert!(stopped.is_ok());
    }
}
