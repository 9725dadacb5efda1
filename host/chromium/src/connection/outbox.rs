//! Commands on their way into the pipe. The sender writes them at once, since waking
//! another task takes longer than most commands; what the pipe does not take waits, in
//! order, for a task of its own.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    sync::{Arc, Weak},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{net::unix::pipe, sync::Notify};

/// How much may wait to be written. A browser that takes no more is stuck.
const MOST_WAITING_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Outbox {
    writer: Arc<pipe::Sender>,
    // Not an async lock: held for a write that waits for nothing.
    waiting: Mutex<Waiting>,
    filled: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: VecDeque<u8>,
    /// The browser has closed its end.
    closed: bool,
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.filled.notify_one();
    }
}

impl Outbox {
    pub(super) fn new(writer: pipe::Sender) -> Self {
        Self { writer: Arc::new(writer), waiting: Mutex::default(), filled: Arc::default() }
    }

    /// Sends a message behind all earlier ones. False when the browser has closed its
    /// end, or too much waits already.
    pub(super) fn send(&self, message: Vec<u8>) -> bool {
        let mut waiting = self.waiting();
        if waiting.closed {
            return false;
        }
        if !waiting.bytes.is_empty() {
            if waiting.bytes.len() + message.len() > MOST_WAITING_BYTES {
                tracing::warn!("the browser takes no commands");
                return false;
            }
            waiting.bytes.extend(message);
            return true;
        }
        let mut rest = message.as_slice();
        while !rest.is_empty() {
            match self.writer.try_write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    waiting.closed = true;
                    return false;
                }
            }
        }
        if !rest.is_empty() {
            waiting.bytes.extend(rest);
            self.filled.notify_one();
        }
        true
    }

    /// Writes what waits, as far as the browser takes it.
    fn write(&self) -> io::Result<()> {
        let mut waiting = self.waiting();
        while !waiting.bytes.is_empty() {
            match self.writer.try_write(waiting.bytes.as_slices().0) {
                Ok(written) => drop(waiting.bytes.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    *waiting = Waiting { closed: true, ..Waiting::default() };
                    return Err(error);
                }
            }
        }
        waiting.bytes.shrink_to(64 << 10);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.waiting().bytes.is_empty()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }
}

/// Writes what the pipe did not take at once, until the outbox is dropped.
pub(super) async fn empty(outbox: Weak<Outbox>) {
    let Some((writer, filled)) =
        outbox.upgrade().map(|outbox| (Arc::clone(&outbox.writer), Arc::clone(&outbox.filled)))
    else {
        return;
    };
    loop {
        filled.notified().await;
        loop {
            let Some(is_empty) = outbox.upgrade().map(|outbox| outbox.is_empty()) else { return };
            if is_empty {
                break;
            }
            if writer.writable().await.is_err() {
                return;
            }
            let Some(Ok(())) = outbox.upgrade().map(|outbox| outbox.write()) else { return };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{io::AsyncReadExt as _, time::timeout};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn messages_arrive_whole_and_in_order_however_slowly_they_are_taken() {
        let (writer, mut reader) = pipe::pipe().expect("a pipe");
        let outbox = Arc::new(Outbox::new(writer));
        let sent = [1_u8, 2, 3, 4].map(|number| vec![number; 300_000 * usize::from(number % 2) + 1]).concat();
        let mut taken = vec![0; sent.len()];
        outbox.writer.writable().await.expect("room");
        assert!(outbox.send(vec![1; 300_001]));
        // There is room again, and still the next one has to wait.
        reader.read_exact(&mut taken[..20_000]).await.expect("a part");
        outbox.writer.writable().await.expect("room");
        assert!(outbox.send(vec![2]) && outbox.send(vec![3; 300_001]) && outbox.send(vec![4]));
        let emptying = tokio::spawn(empty(Arc::downgrade(&outbox)));
        timeout(PATIENCE, reader.read_exact(&mut taken[20_000..])).await.expect("in time").expect("all of it");
        assert!(taken == sent && outbox.is_empty());
        drop(outbox);
        timeout(PATIENCE, emptying).await.expect("ends with the outbox").expect("no panic");
        assert_eq!(timeout(PATIENCE, reader.read(&mut taken)).await.expect("in time").expect("the end"), 0);
    }

    #[tokio::test]
    async fn nothing_is_taken_for_a_browser_that_is_gone() {
        let (writer, reader) = pipe::pipe().expect("a pipe");
        let outbox = Outbox::new(writer);
        drop(reader);
        outbox.writer.writable().await.expect("ready");
        assert!(!outbox.send(b"some".to_vec()) && !outbox.send(b"more".to_vec()));
    }
}
