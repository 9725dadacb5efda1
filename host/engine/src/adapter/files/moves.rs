//! What moves data: writes, streams, listings.

use tokio::task::spawn_blocking;
use wasmtime::{StoreContextMut, component::Resource};
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::{
        FsError,
        bindings::filesystem::types::{DirectoryEntry, ErrorCode, HostDescriptor as _},
    },
};
use wasmtime_wasi_io::streams::{DynInputStream, DynOutputStream};

use super::refused;
use crate::{
    files::{
        listing::{Listing, Reading},
        reader::Reader,
        writer::{self, At, Writer},
    },
    guest::Guest,
    watch::component::LinkerInstance,
};

type Store<'s, 'g> = &'s mut StoreContextMut<'g, Guest>;
type Handed = Resource<Descriptor>;

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    types.func_wrap_async_untold("[method]descriptor.write", |mut store, parameters| {
        Box::new(async move { Ok((write(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_untold("[method]descriptor.write-via-stream", |mut store, (handle, offset): (Handed, u64)| {
        Ok((stream_in(&mut store, &handle, At::Position(offset))?,))
    })?;
    types.func_wrap_untold("[method]descriptor.append-via-stream", |mut store, (handle,): (Handed,)| {
        Ok((stream_in(&mut store, &handle, At::End)?,))
    })?;
    types.func_wrap_untold("[method]descriptor.read-via-stream", |mut store, (handle, offset): (Handed, u64)| {
        Ok((stream_out(&mut store, handle, offset)?,))
    })?;
    types.func_wrap_async_untold("[method]descriptor.read-directory", |mut store, (handle,): (Handed,)| {
        Box::new(async move { Ok((read_directory(&mut store, &handle).await?,)) })
    })?;
    types.func_wrap_async_untold(
        "[method]directory-entry-stream.read-directory-entry",
        |mut store, (listing,): (Resource<Listing>,)| {
            Box::new(async move { Ok((read_entry(&mut store, &listing).await?,)) })
        },
    )?;
    types.func_wrap_untold("filesystem-error-code", |mut store, (error,): (Resource<wasmtime::Error>,)| {
        Ok((error_code(&mut store, &error)?,))
    })
}

async fn write(
    store: Store<'_, '_>,
    (handle, bytes, offset): (Handed, Vec<u8>, u64),
) -> wasmtime::Result<Result<u64, ErrorCode>> {
    let guest = store.data_mut();
    let file = match guest.file(&handle)? {
        Ok(file) if file.perms.write_not_permitted() => return Ok(Err(ErrorCode::NotPermitted)),
        Ok(file) => file.file,
        Err(error) => return Ok(Err(error)),
    };
    let meter = guest.handle(&handle)?.meter.clone();
    if let Err(refusal) = meter.take(bytes.len() as u64) {
        return refused(refusal);
    }
    let written = spawn_blocking(move || writer::write(&file, At::Position(offset), &bytes, &meter)).await?;
    Ok(written.map_err(ErrorCode::from))
}

fn stream_in(
    store: Store<'_, '_>,
    handle: &Handed,
    at: At,
) -> wasmtime::Result<Result<Resource<DynOutputStream>, ErrorCode>> {
    let guest = store.data_mut();
    let file = match guest.file(handle)? {
        Ok(file) if file.perms.write_not_permitted() => return Ok(Err(ErrorCode::NotPermitted)),
        Ok(file) => file.file,
        Err(error) => return Ok(Err(error)),
    };
    let writer = Writer::new(file, at, guest.handle(handle)?, guest.keep_open()?);
    let writer: DynOutputStream = Box::new(writer);
    Ok(Ok(guest.table.push(writer)?))
}

fn stream_out(
    store: Store<'_, '_>,
    handle: Handed,
    offset: u64,
) -> wasmtime::Result<Result<Resource<DynInputStream>, ErrorCode>> {
    let guest = store.data_mut();
    let (_handle, _share) = (guest.handle(&handle)?, guest.keep_open()?);
    let stream = match guest.filesystem_of_counted_call().read_via_stream(handle, offset) {
        Ok(stream) => stream,
        Err(error) => return error_of(error).map(Err),
    };
    let inner = guest.table.delete(stream)?;
    let reader: DynInputStream = Box::new(Reader { inner, _handle, _share });
    Ok(Ok(guest.table.push(reader)?))
}

fn error_of(error: FsError) -> wasmtime::Result<ErrorCode> {
    error.downcast()
}

async fn read_directory(
    store: Store<'_, '_>,
    handle: &Handed,
) -> wasmtime::Result<Result<Resource<Listing>, ErrorCode>> {
    let guest = store.data_mut();
    let directory = match guest.directory(handle)? {
        Ok(directory) => directory.dir,
        Err(error) => return Ok(Err(error)),
    };
    let _share = guest.keep_open()?;
    match spawn_blocking(move || Reading::begin(&directory)).await? {
        Ok(reading) => {
            let listing = Listing { reading: Some(reading), ahead: Default::default(), _share };
            Ok(Ok(store.data_mut().table.push(listing)?))
        }
        Err(error) => Ok(Err(error.into())),
    }
}

async fn read_entry(
    store: Store<'_, '_>,
    handle: &Resource<Listing>,
) -> wasmtime::Result<Result<Option<DirectoryEntry>, ErrorCode>> {
    let guest = store.data_mut();
    let listing = guest.table.get_mut(handle)?;
    if listing.ahead.is_empty()
        && let Some(mut reading) = listing.reading.take()
    {
        let read = spawn_blocking(move || {
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
    Ok(store.data_mut().table.get_mut(handle)?.ahead.pop_front().transpose())
}

/// WASI's own does not know a quota.
fn error_code(store: Store<'_, '_>, error: &Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
    let guest = store.data_mut();
    let error = guest.table.get(error)?.downcast_ref::<std::io::Error>();
    Ok(error.map(|error| match error.kind() {
        std::io::ErrorKind::QuotaExceeded => ErrorCode::Quota,
        _ => ErrorCode::from(error),
    }))
}
