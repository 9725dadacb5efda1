//! The functions that move data: writes, streams, listings.

use std::{io, sync::Arc};

use wasmtime::{StoreContextMut, component::Resource};
use wasmtime_wasi::p2::{
    FsError, FsResult,
    bindings::filesystem::types::{DirectoryEntry, ErrorCode, HostDescriptor as _},
};
use wasmtime_wasi_io::streams::{DynInputStream, DynOutputStream};

use super::descriptors::{DescriptorHandle, blocking, returned};
use crate::{
    files::{
        listing::{DirectoryListing, DirectoryReader},
        reader::FileInputStream,
        writer::{self, FileOutputStream, WritePosition},
    },
    forwarded::{self, FailureOfHost},
    guest::Guest,
    watch::component::LinkerInstance,
};

type GuestStore<'s, 'g> = &'s mut StoreContextMut<'g, Guest>;

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    types.func_wrap_async_untold("[method]descriptor.write", |mut store, parameters| {
        Box::new(async move { returned(write(&mut store, parameters).await) })
    })?;
    types.func_wrap_stream(
        "[method]descriptor.write-via-stream",
        |mut store, (handle, offset): (DescriptorHandle, u64)| {
            returned(output_stream(&mut store, &handle, WritePosition::At(offset)))
        },
        output_of_host,
    )?;
    types.func_wrap_stream(
        "[method]descriptor.append-via-stream",
        |mut store, (handle,): (DescriptorHandle,)| returned(output_stream(&mut store, &handle, WritePosition::End)),
        output_of_host,
    )?;
    types.func_wrap_stream(
        "[method]descriptor.read-via-stream",
        |mut store, (handle, offset): (DescriptorHandle, u64)| returned(input_stream(&mut store, handle, offset)),
        input_of_host,
    )?;
    types.func_wrap_async_untold(
        "[method]descriptor.read-directory",
        |mut store, (handle,): (DescriptorHandle,)| {
            Box::new(async move { returned(read_directory(&mut store, &handle).await) })
        },
    )?;
    types.func_wrap_async_untold(
        "[method]directory-entry-stream.read-directory-entry",
        |mut store, (listing,): (Resource<DirectoryListing>,)| {
            Box::new(async move { returned(read_entry(&mut store, &listing).await) })
        },
    )?;
    types.func_wrap_on_the_spot("filesystem-error-code", |store, (error,): (Resource<wasmtime::Error>,)| {
        Ok((error_code(store.data().table.get(&error)?),))
    })
}

/// A stream of a worker's guest, over one in the host.
fn input_of_host(guest: &mut Guest, stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynInputStream>> {
    Ok(guest.table.push(forwarded::input(&guest.call, &stream))?)
}

/// The same into a file.
fn output_of_host(guest: &mut Guest, stream: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynOutputStream>> {
    Ok(guest.table.push(forwarded::output(&guest.call, &stream))?)
}

async fn write(store: GuestStore<'_, '_>, (handle, bytes, offset): (DescriptorHandle, Vec<u8>, u64)) -> FsResult<u64> {
    let guest = store.data_mut();
    let file = guest.writable_file(&handle)?.file;
    let meter = guest.open_descriptor(&handle)?.meter.clone();
    meter.take(bytes.len() as u64)?;
    Ok(blocking(move || writer::write(&file, WritePosition::At(offset), &bytes, &meter)).await??)
}

fn output_stream(
    store: GuestStore<'_, '_>,
    handle: &DescriptorHandle,
    position: WritePosition,
) -> FsResult<Resource<DynOutputStream>> {
    let guest = store.data_mut();
    let file = guest.writable_file(handle)?.file;
    let stream = FileOutputStream::new(
        file,
        position,
        guest.open_descriptor(handle)?,
        guest.keep_open().map_err(FsError::trap)?,
    );
    let stream: DynOutputStream = Box::new(stream);
    Ok(guest.table.push(stream)?)
}

fn input_stream(
    store: GuestStore<'_, '_>,
    handle: DescriptorHandle,
    offset: u64,
) -> FsResult<Resource<DynInputStream>> {
    let guest = store.data_mut();
    let (_descriptor, _share) = (guest.open_descriptor(&handle)?, guest.keep_open().map_err(FsError::trap)?);
    let stream = guest.filesystem_of_counted_call().read_via_stream(handle, offset)?;
    let inner = guest.table.delete(stream)?;
    let stream: DynInputStream = Box::new(FileInputStream { inner, _descriptor, _share });
    Ok(guest.table.push(stream)?)
}

async fn read_directory(store: GuestStore<'_, '_>, handle: &DescriptorHandle) -> FsResult<Resource<DirectoryListing>> {
    let guest = store.data_mut();
    let directory = Arc::clone(&guest.directory(handle)?.dir);
    let _share = guest.keep_open().map_err(FsError::trap)?;
    let reading = blocking(move || DirectoryReader::begin(&directory)).await??;
    let listing = DirectoryListing { reading: Some(reading), ahead: Default::default(), _share };
    Ok(store.data_mut().table.push(listing)?)
}

async fn read_entry(
    store: GuestStore<'_, '_>,
    handle: &Resource<DirectoryListing>,
) -> FsResult<Option<DirectoryEntry>> {
    let listing = store.data_mut().table.get_mut(handle)?;
    if listing.ahead.is_empty()
        && let Some(mut reading) = listing.reading.take()
    {
        let read = blocking(move || {
            let entries = reading.next();
            (reading, entries)
        });
        let (reading, entries) = read.await?;
        let listing = store.data_mut().table.get_mut(handle)?;
        if !entries.is_empty() {
            listing.reading = Some(reading);
        }
        listing.ahead = entries;
    }
    Ok(store.data_mut().table.get_mut(handle)?.ahead.pop_front().transpose()?)
}

/// WASI's own does not know a quota, and no error that crossed.
pub(in crate::adapter) fn error_code(error: &wasmtime::Error) -> Option<ErrorCode> {
    if let Some(of_host) = error.downcast_ref::<FailureOfHost>() {
        return of_host.code;
    }
    error.downcast_ref::<io::Error>().map(|error| match error.kind() {
        io::ErrorKind::QuotaExceeded => ErrorCode::Quota,
        _ => ErrorCode::from(error),
    })
}
