//! Frames over a socket between the host and a worker, in either direction.
//!
//! A frame is its length in four bytes, and so many bytes. A sender writes at once where the
//! socket takes it, since the other side waits for it; what does not fit waits for a task.

use std::{
    io::{self, ErrorKind},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    sync::Arc,
};

use bytes::{Buf as _, BytesMut};
use parking_lot::Mutex;
use tokio::{net::UnixStream, sync::Notify};

/// One end of the connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct WorkerConnection {
    shared: Arc<SharedConnection>,
}

struct SharedConnection {
    stream: UnixStream,
    // Held for a copy, and for a write that does not wait.
    outgoing: Mutex<Outgoing>,
    more: Notify,
    expecting: Notify,
}

#[derive(Default)]
struct Outgoing {
    waiting: BytesMut,
    closed: bool,
}

impl WorkerConnection {
    /// Needs a runtime with input and output.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = StdStream::from(socket);
        socket.set_nonblocking(true)?;
        let stream = UnixStream::from_std(socket)?;
        let shared =
            SharedConnection { stream, outgoing: Mutex::default(), more: Notify::new(), expecting: Notify::new() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Sends a frame. Nothing happens where the other side is gone: its end is noticed by reading.
    pub(super) fn send(&self, frame: &[u8]) {
        let length = u32::try_from(frame.len()).unwrap_or(u32::MAX).to_le_bytes();
        let mut outgoing = self.shared.outgoing.lock();
        if outgoing.closed {
            return;
        }
        if !outgoing.waiting.is_empty() {
            outgoing.waiting.extend_from_slice(&length);
            outgoing.waiting.extend_from_slice(frame);
            return;
        }
        let whole = length.len() + frame.len();
        let slices = [io::IoSlice::new(&length), io::IoSlice::new(frame)];
        let written = match self.shared.stream.try_write_vectored(&slices) {
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => return outgoing.closed = true,
        };
        if written < whole {
            let of_length = written.min(length.len());
            outgoing.waiting.extend_from_slice(&length[of_length..]);
            outgoing.waiting.extend_from_slice(&frame[written - of_length..]);
            drop(outgoing);
            self.shared.more.notify_one();
        }
    }

    /// Has who reads look for what the other side says next.
    pub(super) fn expect_more(&self) {
        self.shared.expecting.notify_one();
    }

    /// Returns where the other side may say something at once.
    pub(super) async fn expects(&self) {
        self.shared.expecting.notified().await;
    }

    /// How many bytes wait to be sent.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.shared.outgoing.lock().waiting.len()
    }

    /// Writes what waits, for as long as the other side is there.
    pub(super) async fn write_on(self) {
        loop {
            self.shared.more.notified().await;
            while self.shared.stream.writable().await.is_ok() {
                let mut outgoing = self.shared.outgoing.lock();
                match self.shared.stream.try_write(&outgoing.waiting) {
                    Ok(written) => outgoing.waiting.advance(written),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                    Err(_) => {
                        outgoing.closed = true;
                        return;
                    }
                }
                if outgoing.waiting.is_empty() {
                    // What one large answer took is given back.
                    outgoing.waiting = BytesMut::new();
                    break;
                }
            }
        }
    }

    /// What is read.
    pub(super) fn stream(&self) -> &UnixStream {
        &self.shared.stream
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;
    use crate::isolation::incoming::IncomingFrames;

    fn pair() -> (WorkerConnection, WorkerConnection) {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("sockets");
        let ends = (WorkerConnection::new(one).expect("a runtime"), WorkerConnection::new(other).expect("a runtime"));
        tokio::spawn(ends.0.clone().write_on());
        ends
    }

    #[tokio::test]
    async fn frames_come_whole_and_in_order_also_those_that_no_socket_holds() {
        let (one, other) = pair();
        let sent: Vec<Vec<u8>> = [0, 1, 5, 3 << 20, 7, 1 << 20]
            .iter()
            .map(|length| vec![u8::try_from(length % 251).expect("small"); *length])
            .collect();
        for frame in &sent {
            one.send(frame);
        }
        let mut frames = IncomingFrames::over(&other, Arc::new(AtomicUsize::new(4 << 20)));
        for frame in sent {
            assert!(frames.next().await.expect("legal").expect("there") == frame);
        }
        assert_eq!(one.waiting_bytes(), 0);
    }

    #[tokio::test]
    async fn a_frame_that_is_too_long_is_refused_before_it_has_come_and_an_end_is_told() {
        let (one, other) = pair();
        one.send(&[1; 100]);
        assert_eq!(
            IncomingFrames::over(&other, Arc::new(AtomicUsize::new(99))).next().await.expect_err("too long").kind(),
            ErrorKind::InvalidData
        );
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("sockets");
        let other = WorkerConnection::new(other).expect("a runtime");
        drop(one);
        assert!(IncomingFrames::over(&other, Arc::new(AtomicUsize::new(99))).next().await.expect("no error").is_none());
        other.send(b"to nobody");
    }
}
