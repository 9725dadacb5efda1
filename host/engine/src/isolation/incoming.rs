//! The reading end of a connection: frames as they come.

use std::{
    io::{self, ErrorKind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::{Buf as _, Bytes, BytesMut};
use rustix::net::{RecvFlags, recv};

use super::connection::WorkerConnection;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// Bytes that a look reads at once: more than what most frames have.
const LOOK_BYTES: usize = 4 << 10;
/// How often a look reads for one frame; the rest of a longer one comes by [`IncomingFrames::next`].
const LOOK_READS: usize = 16;

/// The frames that come over a connection.
pub(super) struct IncomingFrames {
    connection: WorkerConnection,
    read: BytesMut,
    /// The longest that a frame may be at the time.
    most_bytes: Arc<AtomicUsize>,
}

impl IncomingFrames {
    /// Those that come over this connection. No two read from one.
    pub(super) fn over(connection: &WorkerConnection, most_bytes: Arc<AtomicUsize>) -> Self {
        Self { connection: connection.clone(), read: BytesMut::new(), most_bytes }
    }

    /// The next one; none where the other side is gone. Dropped before it returns, it has taken nothing.
    ///
    /// # Errors
    /// Where a frame is longer than any may be.
    pub(super) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            match self.next_at_once()? {
                Arrival::Frame(frame) => return Ok(Some(frame)),
                Arrival::End => return Ok(None),
                Arrival::Later => self.connection.stream().readable().await?,
            }
        }
    }

    /// The next one, where the runtime knows of it.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(super) fn next_at_once(&mut self) -> io::Result<Arrival> {
        loop {
            if let Some(frame) = self.whole()? {
                return Ok(Arrival::Frame(frame));
            }
            // Room is made as bytes come, and not by the length that was said.
            self.read.reserve(READ_BYTES);
            match self.connection.stream().try_read_buf(&mut self.read) {
                Ok(0) => return Ok(Arrival::End),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Arrival::Later),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Arrival::End),
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks the socket itself for the next one: the runtime learns that it can be read only when a
    /// thread of it waits for events. None also where there will be no further one, which is for
    /// [`Self::next`] to say.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(super) fn look(&mut self) -> io::Result<Option<Bytes>> {
        for _ in 0..LOOK_READS {
            if let Some(frame) = self.whole()? {
                return Ok(Some(frame));
            }
            let mut bytes = [0; LOOK_BYTES];
            match recv(self.connection.stream(), &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((_, count)) if count > 0 => self.read.extend_from_slice(&bytes[..count]),
                _ => break,
            }
        }
        Ok(None)
    }

    fn whole(&mut self) -> io::Result<Option<Bytes>> {
        let Some(length) = self.read.first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > self.most_bytes.load(Relaxed) {
            return Err(ErrorKind::InvalidData.into());
        }
        if self.read.len() - 4 < length {
            return Ok(None);
        }
        self.read.advance(4);
        Ok(Some(self.read.split_to(length).freeze()))
    }
}

/// What has come.
pub(super) enum Arrival {
    Frame(Bytes),
    /// Nothing yet.
    Later,
    /// The other side is gone.
    End,
}
