//! Streams of files, as a guest in a worker has them: each asks for one in the host.

use std::{mem, pin::Pin, sync::Arc};

use bytes::Bytes;
use wasmtime::component::Resource;
use wasmtime_wasi::{p2::bindings::filesystem::types::ErrorCode, runtime::AbortOnDropJoinHandle};
use wasmtime_wasi_io::{
    poll::Pollable,
    streams::{DynInputStream, DynOutputStream, InputStream, OutputStream, StreamError, StreamResult},
};

use super::OwnFunction;
use crate::{
    call::ActiveCall,
    watch::crossing::{one_of, to_bytes},
};

/// What crosses at once.
pub(crate) const CHUNK_BYTES: u64 = 64 << 10;

/// An error of a stream in the host, as a worker has it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct FailureOfHost {
    pub(crate) code: Option<ErrorCode>,
    message: String,
}

/// Why a stream goes no further.
#[derive(Debug)]
pub(crate) enum StreamEnd {
    Closed,
    Failed((Option<ErrorCode>, String)),
}

one_of!(StreamEnd { Closed = 0, Failed(why) = 1 });

impl From<StreamEnd> for StreamError {
    fn from(end: StreamEnd) -> Self {
        match end {
            StreamEnd::Closed => Self::Closed,
            StreamEnd::Failed((code, message)) => {
                Self::LastOperationFailed(wasmtime::Error::new(FailureOfHost { code, message }))
            }
        }
    }
}

pub(crate) type ReadFromHost = Result<Vec<u8>, StreamEnd>;
pub(crate) type WrittenToHost = Result<(), StreamEnd>;

/// A stream of a worker's guest out of a file, over one in the host.
pub(crate) fn input(call: &Arc<ActiveCall>, stream: &Resource<DynInputStream>) -> DynInputStream {
    Box::new(InputOfHost { call: Arc::clone(call), number: stream.rep(), state: InputState::Has(Bytes::new()) })
}

/// The same into a file.
pub(crate) fn output(call: &Arc<ActiveCall>, stream: &Resource<DynOutputStream>) -> DynOutputStream {
    Box::new(OutputOfHost { call: Arc::clone(call), number: stream.rep(), state: OutputState::Ready })
}

struct InputOfHost {
    call: Arc<ActiveCall>,
    /// That of the stream in the table of the host.
    number: u32,
    state: InputState,
}

type ReadingFromHost = Pin<Box<dyn Future<Output = wasmtime::Result<ReadFromHost>> + Send>>;

enum InputState {
    Has(Bytes),
    Reads(ReadingFromHost),
    Ended(Option<StreamError>),
}

impl InputOfHost {
    fn begin(&self) -> ReadingFromHost {
        let (call, handle) = (Arc::clone(&self.call), Resource::<DynInputStream>::new_borrow(self.number));
        let parameters = to_bytes(&(handle, CHUNK_BYTES));
        Box::pin(async move { call.ask_host(OwnFunction::ReadStream as u16, parameters).await })
    }
}

impl Drop for InputOfHost {
    fn drop(&mut self) {
        let handle = Resource::<DynInputStream>::new_own(self.number);
        let _ = self.call.tell_host(OwnFunction::EndInput as u16, &(handle,));
    }
}

#[async_trait::async_trait]
impl Pollable for InputOfHost {
    async fn ready(&mut self) {
        if matches!(&self.state, InputState::Has(bytes) if bytes.is_empty()) {
            self.state = InputState::Reads(self.begin());
        }
        if let InputState::Reads(reading) = &mut self.state {
            self.state = match reading.await {
                Ok(Ok(bytes)) => InputState::Has(bytes.into()),
                Ok(Err(end)) => InputState::Ended(Some(end.into())),
                Err(error) => InputState::Ended(Some(StreamError::Trap(error))),
            };
        }
    }
}

#[async_trait::async_trait]
impl InputStream for InputOfHost {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        match &mut self.state {
            InputState::Has(bytes) => Ok(bytes.split_to(size.min(bytes.len()))),
            InputState::Reads(_) => Ok(Bytes::new()),
            InputState::Ended(why) => Err(why.take().unwrap_or(StreamError::Closed)),
        }
    }
}

struct OutputOfHost {
    call: Arc<ActiveCall>,
    number: u32,
    state: OutputState,
}

enum OutputState {
    Ready,
    Writes(AbortOnDropJoinHandle<wasmtime::Result<WrittenToHost>>),
    Ended(Option<StreamError>),
}

impl OutputOfHost {
    fn is_ready(&mut self) -> StreamResult<bool> {
        match &mut self.state {
            OutputState::Ready => Ok(true),
            OutputState::Writes(_) => Ok(false),
            OutputState::Ended(why) => Err(why.take().unwrap_or(StreamError::Closed)),
        }
    }
}

impl Drop for OutputOfHost {
    fn drop(&mut self) {
        let handle = Resource::<DynOutputStream>::new_own(self.number);
        let _ = self.call.tell_host(OwnFunction::EndOutput as u16, &(handle,));
    }
}

#[async_trait::async_trait]
impl Pollable for OutputOfHost {
    async fn ready(&mut self) {
        if let OutputState::Writes(writing) = &mut self.state {
            self.state = match writing.await {
                Ok(Ok(())) => OutputState::Ready,
                Ok(Err(end)) => OutputState::Ended(Some(end.into())),
                Err(error) => OutputState::Ended(Some(StreamError::Trap(error))),
            };
        }
    }
}

#[async_trait::async_trait]
impl OutputStream for OutputOfHost {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if !self.is_ready()? {
            return Err(StreamError::trap("a write was not permitted: `check-write` was not asked first"));
        }
        let (call, handle) = (Arc::clone(&self.call), Resource::<DynOutputStream>::new_borrow(self.number));
        let parameters = to_bytes(&(handle, Vec::from(bytes)));
        self.state = OutputState::Writes(wasmtime_wasi::runtime::spawn(async move {
            call.ask_host(OwnFunction::WriteStream as u16, parameters).await
        }));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.is_ready().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(if self.is_ready()? { usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX) } else { 0 })
    }

    async fn cancel(&mut self) {
        // A write that has begun is finished, as in the host.
        self.ready().await;
        drop(mem::replace(&mut self.state, OutputState::Ended(None)));
    }
}
