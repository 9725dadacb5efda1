//! What makes, removes and renames, and how long a file is.

use std::{fs::File as OsFile, path::Path, sync::Arc};

use tokio::task::spawn_blocking;
use wasmtime::{StoreContextMut, component::Resource};
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir},
    p2::bindings::filesystem::types::{ErrorCode, PathFlags},
};

use super::{may_write, refused};
use crate::{
    files::{self, Change, meter::Handle},
    guest::Guest,
    watch::component::LinkerInstance,
};

type Store<'s, 'g> = &'s mut StoreContextMut<'g, Guest>;
type Handed = Resource<Descriptor>;
type Changed = wasmtime::Result<Result<(), ErrorCode>>;

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    types.func_wrap_async("[method]descriptor.create-directory-at", |mut store, parameters| {
        Box::new(async move { Ok((create_directory_at(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.rename-at", |mut store, parameters| {
        Box::new(async move { Ok((rename_at(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.unlink-file-at", |mut store, parameters| {
        Box::new(async move { Ok((unlink_file_at(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.symlink-at", |mut store, parameters| {
        Box::new(async move { Ok((symlink_at(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.link-at", |mut store, parameters| {
        Box::new(async move { Ok((link_at(&mut store, parameters).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.set-size", |mut store, parameters| {
        Box::new(async move { Ok((set_size(&mut store, parameters).await?,)) })
    })
}

/// A directory, open, and what its handle stands for.
type At = (Dir, Arc<Handle>);

fn directory(store: Store<'_, '_>, handle: &Handed) -> wasmtime::Result<Result<At, ErrorCode>> {
    let guest = store.data_mut();
    let of = guest.handle(handle)?;
    Ok(guest.directory(handle)?.map(|directory| (directory, of)))
}

/// Changes something below a directory, for which room for one entry was taken where it
/// `makes` something.
async fn change(
    (directory, of): At,
    makes: bool,
    change: impl FnOnce(&OsFile) -> std::io::Result<Change> + Send + 'static,
) -> Changed {
    let changed = spawn_blocking(move || change(&directory.dir)).await?;
    of.meter.changed(u64::from(makes), changed.as_ref().copied().unwrap_or_default());
    Ok(changed.map(drop).map_err(ErrorCode::from))
}

async fn create_directory_at(store: Store<'_, '_>, (handle, path): (Handed, String)) -> Changed {
    let at = match directory(store, &handle)? {
        Ok(at) => at,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = may_write(&at.0, &at.1.meter, true).await? {
        return Ok(Err(error));
    }
    change(at, true, move |directory| files::make_directory(directory, Path::new(&path))).await
}

async fn unlink_file_at(store: Store<'_, '_>, (handle, path): (Handed, String)) -> Changed {
    let at = match directory(store, &handle)? {
        Ok(at) => at,
        Err(error) => return Ok(Err(error)),
    };
    // What is full gives files up.
    if at.0.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    change(at, false, move |directory| files::unlink(directory, Path::new(&path))).await
}

async fn rename_at(
    store: Store<'_, '_>,
    (handle, path, new_handle, new_path): (Handed, String, Handed, String),
) -> Changed {
    let (from, to) = match (directory(store, &handle)?, directory(store, &new_handle)?) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    // Taking something away is writing, too; what is full may give files up.
    if from.0.perms.write_not_permitted() || to.0.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    // What crosses from one to another is copied, so that it is counted there, and no link
    // comes along.
    if !same_volume(&from, &to) {
        return Ok(Err(ErrorCode::CrossDevice));
    }
    let into = Arc::clone(&to.0.dir);
    change(from, false, move |from| files::rename(from, Path::new(&path), &*into, Path::new(&new_path))).await
}

/// The operator's other programs follow links in their folders to wherever these lead, so
/// that plugins make none there.
async fn symlink_at(store: Store<'_, '_>, (handle, target, path): (Handed, String, String)) -> Changed {
    let at = match directory(store, &handle)? {
        Ok(at) if at.1.exchange => return Ok(Err(ErrorCode::NotPermitted)),
        Ok(at) => at,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = may_write(&at.0, &at.1.meter, true).await? {
        return Ok(Err(error));
    }
    change(at, true, move |directory| files::symlink(Path::new(&target), directory, Path::new(&path))).await
}

/// Two names of one file are in one place: the file of a folder, with a name in a workspace,
/// would be there for its processes.
async fn link_at(
    store: Store<'_, '_>,
    (handle, flags, path, new_handle, new_path): (Handed, PathFlags, String, Handed, String),
) -> Changed {
    let (from, to) = match (directory(store, &handle)?, directory(store, &new_handle)?) {
        (Ok((_, from)), Ok((_, to))) if from.exchange || to.exchange => return Ok(Err(ErrorCode::NotPermitted)),
        (Ok(from), Ok(to)) => (from, to),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    if flags.contains(PathFlags::SYMLINK_FOLLOW) {
        return Ok(Err(ErrorCode::Invalid));
    }
    if from.0.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    if !same_volume(&from, &to) {
        return Ok(Err(ErrorCode::CrossDevice));
    }
    if let Err(error) = may_write(&to.0, &to.1.meter, true).await? {
        return Ok(Err(error));
    }
    let into = Arc::clone(&to.0.dir);
    change(from, true, move |from| files::link(from, Path::new(&path), &*into, Path::new(&new_path))).await
}

fn same_volume(one: &At, other: &At) -> bool {
    Arc::ptr_eq(&one.1.meter.volume, &other.1.meter.volume)
}

async fn set_size(store: Store<'_, '_>, (handle, size): (Handed, u64)) -> Changed {
    let guest = store.data_mut();
    let file = match guest.file(&handle)? {
        Ok(file) if file.perms.write_not_permitted() => return Ok(Err(ErrorCode::NotPermitted)),
        Ok(file) => file.file,
        Err(error) => return Ok(Err(error)),
    };
    let meter = guest.handle(&handle)?.meter.clone();
    let looking = Arc::clone(&file);
    let longer = match spawn_blocking(move || looking.metadata()).await? {
        Ok(metadata) => size.saturating_sub(metadata.len()),
        Err(error) => return Ok(Err(error.into())),
    };
    if longer > 0
        && let Err(refusal) = meter.take_length(longer)
    {
        return refused(refusal);
    }
    let set = spawn_blocking(move || meter.metered(&file, longer, || file.set_len(size))).await?;
    Ok(set.map_err(ErrorCode::from))
}
