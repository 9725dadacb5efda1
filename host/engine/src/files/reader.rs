//! A stream of a guest's out of a file: WASI's own, which keeps the file open, and so what
//! counts the file as open.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi_io::{
    poll::Pollable,
    streams::{DynInputStream, InputStream, StreamResult},
};
use wharf_core::Share;

use super::meter::OpenDescriptor;

/// A stream out of a file.
pub(crate) struct FileInputStream {
    pub(crate) inner: DynInputStream,
    pub(crate) _descriptor: Arc<OpenDescriptor>,
    pub(crate) _share: Share,
}

#[async_trait::async_trait]
impl Pollable for FileInputStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait::async_trait]
impl InputStream for FileInputStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.blocking_read(size).await
    }

    fn skip(&mut self, bytes: usize) -> StreamResult<usize> {
        self.inner.skip(bytes)
    }

    async fn blocking_skip(&mut self, bytes: usize) -> StreamResult<usize> {
        self.inner.blocking_skip(bytes).await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
