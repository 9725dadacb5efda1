//! Frames over a socket between the host and a worker, in either direction.
//!
//! A frame is its length in four bytes, and so many bytes. A sender writes at once where the
//! socket takes it, since the other side waits for it; what does not fit waits for a task.

use std::{
    io::{self, ErrorKind},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::{Buf as _, Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::{net::UnixStream, sync::Notify};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

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
        let shared = SharedConnection { stream, outgoing: Mutex::default(), more: Notify::new() };
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

    /// The frames that come, each of at most so many bytes at the time.
    pub(super) fn frames(&self, most_bytes: Arc<AtomicUsize>) -> IncomingFrames {
        IncomingFrames { connection: self.clone(), read: BytesMut::new(), most_bytes }
    }
}

/// The frames that come over a connection.
pub(super) struct IncomingFrames {
    connection: WorkerConnection,
    read: BytesMut,
    most_bytes: Arc<AtomicUsize>,
}

impl IncomingFrames {
    /// The next one; none where the other side is gone.
    ///
    /// # Errors
    /// Where a frame is longer than any may be.
    pub(super) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some(length) = self.read.first_chunk::<4>() {
                let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
                if length > self.most_bytes.load(Relaxed) {
                    return Err(ErrorKind::InvalidData.into());
                }
                if self.read.len() - 4 >= length {
                    self.read.advance(4);
                    return Ok(Some(self.read.split_to(length).freeze()));
                }
            }
            // Room is made as bytes come, and not by the length that was said.
            self.read.reserve(READ_BYTES);
            let stream = &self.connection.shared.stream;
            match stream.try_read_buf(&mut self.read) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => stream.readable().await?,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

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
        let mut frames = other.frames(Arc::new(AtomicUsize::new(4 << 20)));
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
            other.frames(Arc::new(AtomicUsize::new(99))).next().await.expect_err("too long").kind(),
            ErrorKind::InvalidData
        );
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("sockets");
        let other = WorkerConnection::new(other).expect("a runtime");
        drop(one);
        assert!(other.frames(Arc::new(AtomicUsize::new(99))).next().await.expect("no error").is_none());
        other.send(b"to nobody");
    }
}
