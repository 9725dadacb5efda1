//! The files and directories that a guest has open, and the errors of what works on them.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir, File},
    p2::{FsError, FsResult, bindings::filesystem::types::ErrorCode},
};
use wharf_core::{Code, Share};

use crate::{
    budget::ExceededLimit,
    files::meter::{OpenDescriptor, WriteMeter, WriteRefusal},
    guest::Guest,
    watch::Refusal,
};

pub(super) type DescriptorHandle = Resource<Descriptor>;

impl From<WriteRefusal> for FsError {
    fn from(refusal: WriteRefusal) -> Self {
        match refusal {
            WriteRefusal::Full => ErrorCode::Quota.into(),
            WriteRefusal::Ends(exceeded) => Self::trap(exceeded),
        }
    }
}

impl Refusal for ErrorCode {
    fn code(&self) -> Code {
        match self {
            Self::Access | Self::NotPermitted | Self::ReadOnly => Code::Denied,
            Self::NoEntry => Code::NotFound,
            Self::Exist => Code::Conflict,
            Self::Quota | Self::InsufficientSpace | Self::InsufficientMemory => Code::Limit,
            Self::Io => Code::Unavailable,
            _ => Code::Invalid,
        }
    }
}

/// The return value of a function of WASI: the guest gets the error, or the call ends.
pub(super) fn returned<T>(result: FsResult<T>) -> wasmtime::Result<(Result<T, ErrorCode>,)> {
    match result {
        Ok(value) => Ok((Ok(value),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

/// Does something on a thread that may wait for the disk.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> FsResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(FsError::trap)
}

impl Guest {
    /// Counts something that stays open, or ends the call.
    pub(super) fn keep_open(&self) -> wasmtime::Result<Share> {
        let context = self.call.context();
        let taken = self.call.open_handles.take(&context.tenant, &context.session, 1);
        taken.map_err(|full| wasmtime::Error::new(ExceededLimit::Handles(full)))
    }

    /// Gives a guest a handle. As in WASI's own, a table that is full ends the call.
    pub(super) fn hand_out(
        &mut self,
        descriptor: Descriptor,
        meter: WriteMeter,
        exchange: bool,
    ) -> wasmtime::Result<DescriptorHandle> {
        let _share = self.keep_open()?;
        let resource = self.table.push(descriptor)?;
        self.handles.insert(resource.rep(), Arc::new(OpenDescriptor { meter, exchange, _share }));
        Ok(resource)
    }

    /// The open file or directory of a handle.
    pub(super) fn open_descriptor(&self, handle: &DescriptorHandle) -> FsResult<Arc<OpenDescriptor>> {
        let known = self.handles.get(&handle.rep()).map(Arc::clone);
        known.ok_or_else(|| FsError::trap(wasmtime::format_err!("a handle that nobody gave out")))
    }

    /// A file that may be written.
    pub(super) fn writable_file(&self, handle: &DescriptorHandle) -> FsResult<File> {
        match self.table.get(handle)? {
            Descriptor::File(file) if file.perms.write_not_permitted() => Err(ErrorCode::NotPermitted.into()),
            Descriptor::File(file) => Ok(file.clone()),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    pub(super) fn directory(&self, handle: &DescriptorHandle) -> FsResult<Dir> {
        match self.table.get(handle)? {
            Descriptor::Dir(directory) => Ok(directory.clone()),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }
}

/// Checks that something may be written below a directory.
pub(super) async fn may_write(directory: &Dir, meter: &WriteMeter) -> FsResult<()> {
    if directory.perms.write_not_permitted() {
        return Err(ErrorCode::NotPermitted.into());
    }
    if !meter.volume.is_measured() {
        let volume = Arc::clone(&meter.volume);
        blocking(move || volume.measure_first()).await??;
    }
    Ok(meter.check()?)
}
