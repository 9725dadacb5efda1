//! Streams of files for guests in workers: the host has them.

use std::sync::Arc;

use wasmtime::{AsContextMut as _, StoreContextMut, component::Resource};
use wasmtime_wasi_io::streams::{DynInputStream, DynOutputStream, StreamError, StreamResult};

use crate::{
    adapter::files::error_code,
    forwarded::{CHUNK_BYTES, ReadFromHost, StreamEnd, WrittenToHost},
    guest::Guest,
    watch::linked::{LinkedFunctions, RunningFunction},
};

/// A trap of a stream ends the call.
fn crossed<T>(result: StreamResult<T>) -> wasmtime::Result<Result<T, StreamEnd>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(StreamError::Closed) => Ok(Err(StreamEnd::Closed)),
        Err(StreamError::LastOperationFailed(error)) => {
            Ok(Err(StreamEnd::Failed((error_code(&error), error.to_string()))))
        }
        Err(StreamError::Trap(error)) => Err(error),
    }
}

pub(super) fn keep(functions: &mut LinkedFunctions<Guest>) {
    functions.keep_waiting(&Arc::new(read));
    functions.keep_at_once(&Arc::new(
        |mut store: StoreContextMut<'_, Guest>, (stream,): (Resource<DynInputStream>,)| {
            store.data_mut().table.delete(stream)?;
            Ok(())
        },
    ));
    functions.keep_waiting(&Arc::new(write));
    functions.keep_at_once(&Arc::new(
        |mut store: StoreContextMut<'_, Guest>, (stream,): (Resource<DynOutputStream>,)| {
            store.data_mut().table.delete(stream)?;
            Ok(())
        },
    ));
}

fn read<'s>(
    mut store: StoreContextMut<'s, Guest>,
    (stream, most): (Resource<DynInputStream>, u64),
) -> RunningFunction<'s, ReadFromHost> {
    Box::new(async move {
        let most = usize::try_from(most.min(CHUNK_BYTES)).unwrap_or_default();
        let mut context = store.as_context_mut();
        let stream = context.data_mut().table.get_mut(&stream)?;
        crossed(stream.blocking_read(most).await.map(|bytes| bytes.to_vec()))
    })
}

fn write<'s>(
    mut store: StoreContextMut<'s, Guest>,
    (stream, bytes): (Resource<DynOutputStream>, Vec<u8>),
) -> RunningFunction<'s, WrittenToHost> {
    Box::new(async move {
        let mut context = store.as_context_mut();
        let stream = context.data_mut().table.get_mut(&stream)?;
        crossed(stream.blocking_write_and_flush(bytes.into()).await)
    })
}
