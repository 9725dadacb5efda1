//! A stream of a guest's into a file, each write of it counted before it happens.
//!
//! WASI's own stream does the same without counting, and cannot be made from outside.

use std::{fs::File, io, mem, sync::Arc};

use bytes::Bytes;
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn_blocking};
use wasmtime_wasi_io::{
    poll::Pollable,
    streams::{OutputStream, StreamError, StreamResult},
};
use wharf_core::Share;

use super::{
    meter::{OpenDescriptor, WriteMeter, WriteRefusal},
    system::{FileSystem as _, Native},
};

/// How much a guest may write at a time.
const WRITE_BYTES: usize = 64 << 10;

/// Where the next write goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WritePosition {
    At(u64),
    End,
}

enum WriteState {
    Ready,
    Writing(AbortOnDropJoinHandle<io::Result<u64>>),
    Failed(io::Error),
    Closed,
}

/// A stream into a file.
pub(crate) struct FileOutputStream {
    file: Arc<File>,
    at: WritePosition,
    state: WriteState,
    // The file stays open with it, even if the guest drops its handle.
    handle: Arc<OpenDescriptor>,
    _share: Share,
}

impl FileOutputStream {
    pub(crate) fn new(file: Arc<File>, at: WritePosition, handle: Arc<OpenDescriptor>, share: Share) -> Self {
        Self { file, at, state: WriteState::Ready, handle, _share: share }
    }

    /// The write of these bytes, for a thread that may block, once room is taken for them.
    fn write_of(&self, bytes: Bytes) -> StreamResult<impl FnOnce() -> io::Result<u64> + Send + 'static> {
        self.handle.meter.take_written(bytes.len() as u64).map_err(|refusal| match refusal {
            WriteRefusal::Full => {
                let full = io::Error::from(io::ErrorKind::QuotaExceeded);
                StreamError::LastOperationFailed(wasmtime::Error::new(full))
            }
            WriteRefusal::Ends(exceeded) => StreamError::Trap(wasmtime::Error::new(exceeded)),
        })?;
        let (file, at, meter) = (Arc::clone(&self.file), self.at, self.handle.meter.clone());
        Ok(move || write(&file, at, &bytes, &meter))
    }

    fn wrote(&mut self, written: io::Result<u64>) {
        self.state = match written {
            Ok(written) => {
                if let WritePosition::At(at) = &mut self.at {
                    *at = at.saturating_add(written);
                }
                WriteState::Ready
            }
            Err(error) => WriteState::Failed(error),
        };
    }

    /// Whether a write may begin.
    fn ready_to_write(&mut self) -> StreamResult<bool> {
        match mem::replace(&mut self.state, WriteState::Closed) {
            WriteState::Closed => Err(StreamError::Closed),
            WriteState::Failed(error) => Err(StreamError::LastOperationFailed(wasmtime::Error::new(error))),
            WriteState::Ready => {
                self.state = WriteState::Ready;
                Ok(true)
            }
            writing @ WriteState::Writing(_) => {
                self.state = writing;
                Ok(false)
            }
        }
    }
}

/// Writes all of it, for which room was taken.
pub(crate) fn write(file: &File, at: WritePosition, bytes: &[u8], meter: &WriteMeter) -> io::Result<u64> {
    meter.metered(file, bytes.len() as u64, || {
        let mut rest = bytes;
        while !rest.is_empty() {
            let done = (bytes.len() - rest.len()) as u64;
            let written = match at {
                WritePosition::At(at) => Native::write_at(file, rest, at.saturating_add(done))?,
                WritePosition::End => Native::append(file, rest)?,
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = &rest[written.min(rest.len())..];
        }
        Ok(bytes.len() as u64)
    })
}

#[async_trait::async_trait]
impl Pollable for FileOutputStream {
    async fn ready(&mut self) {
        if let WriteState::Writing(task) = &mut self.state {
            let written = task.await;
            self.wrote(written);
        }
    }
}

#[async_trait::async_trait]
impl OutputStream for FileOutputStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if !self.ready_to_write()? {
            return Err(StreamError::trap("a write was not permitted: `check-write` was not asked first"));
        }
        // What does not fit closes the stream, as every failed write does.
        self.state = WriteState::Closed;
        let write = self.write_of(bytes)?;
        self.state = WriteState::Writing(spawn_blocking(write));
        Ok(())
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.ready().await;
        self.write(bytes)?;
        self.ready().await;
        self.ready_to_write().map(drop)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.ready_to_write().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(if self.ready_to_write()? { WRITE_BYTES } else { 0 })
    }

    async fn cancel(&mut self) {
        // A write that has begun is finished; the guest waits for it, so that it cannot pile
        // writes up.
        if let WriteState::Writing(task) = mem::replace(&mut self.state, WriteState::Closed) {
            task.cancel().await;
        }
    }
}
