//! The functions that make, remove, rename, lengthen or cut.

use std::{fs::File as OsFile, io, path::Path, sync::Arc};

use wasmtime::StoreContextMut;
use wasmtime_wasi::{
    filesystem::Dir,
    p2::{
        FsResult,
        bindings::filesystem::types::{ErrorCode, PathFlags},
    },
};
use wharf_workspace::SpaceChange;

use super::descriptors::{DescriptorHandle, blocking, may_write, returned};
use crate::{
    files::{self, meter::OpenDescriptor, system::Native},
    guest::Guest,
    watch::component::LinkerInstance,
};

type GuestStore<'s, 'g> = &'s mut StoreContextMut<'g, Guest>;

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    types.func_wrap_async("[method]descriptor.create-directory-at", |mut store, parameters| {
        Box::new(async move { returned(create_directory_at(&mut store, parameters).await) })
    })?;
    types.func_wrap_async("[method]descriptor.rename-at", |mut store, parameters| {
        Box::new(async move { returned(rename_at(&mut store, parameters).await) })
    })?;
    types.func_wrap_async("[method]descriptor.unlink-file-at", |mut store, parameters| {
        Box::new(async move { returned(unlink_file_at(&mut store, parameters).await) })
    })?;
    types.func_wrap_async("[method]descriptor.symlink-at", |mut store, parameters| {
        Box::new(async move { returned(symlink_at(&mut store, parameters).await) })
    })?;
    types.func_wrap_async("[method]descriptor.link-at", |mut store, parameters| {
        Box::new(async move { returned(link_at(&mut store, parameters).await) })
    })?;
    types.func_wrap_async("[method]descriptor.set-size", |mut store, parameters| {
        Box::new(async move { returned(set_size(&mut store, parameters).await) })
    })
}

/// A directory that a guest has open.
struct OpenDirectory {
    directory: Dir,
    descriptor: Arc<OpenDescriptor>,
}

impl OpenDirectory {
    fn of(store: GuestStore<'_, '_>, handle: &DescriptorHandle) -> FsResult<Self> {
        let guest = store.data_mut();
        let descriptor = guest.open_descriptor(handle)?;
        Ok(Self { directory: guest.directory(handle)?, descriptor })
    }

    /// Checks that an entry may be made, and takes room for it.
    async fn may_make(&self) -> FsResult<()> {
        may_write(&self.directory, &self.descriptor.meter).await?;
        Ok(self.descriptor.meter.take_entry()?)
    }

    /// A full workspace lets files be removed and moved.
    fn may_remove(&self) -> FsResult<()> {
        if self.directory.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(())
    }

    /// A file that goes to another volume has to be copied, so that it counts there and no
    /// link comes along.
    fn same_volume(&self, other: &Self) -> FsResult<()> {
        if !Arc::ptr_eq(&self.descriptor.meter.volume, &other.descriptor.meter.volume) {
            return Err(ErrorCode::CrossDevice.into());
        }
        Ok(())
    }

    /// Changes something below the directory, for which room for one entry was taken where
    /// it `makes` something.
    async fn change(
        self,
        makes: bool,
        change: impl FnOnce(&OsFile) -> io::Result<SpaceChange> + Send + 'static,
    ) -> FsResult<()> {
        let Self { directory, descriptor } = self;
        let changed = blocking(move || change(&directory.dir)).await?;
        descriptor.meter.changed(u64::from(makes), changed.as_ref().copied().unwrap_or_default());
        changed?;
        Ok(())
    }
}

async fn create_directory_at(store: GuestStore<'_, '_>, (handle, path): (DescriptorHandle, String)) -> FsResult<()> {
    let above = OpenDirectory::of(store, &handle)?;
    above.may_make().await?;
    above.change(true, move |directory| files::make_directory::<Native>(directory, Path::new(&path))).await
}

async fn unlink_file_at(store: GuestStore<'_, '_>, (handle, path): (DescriptorHandle, String)) -> FsResult<()> {
    let above = OpenDirectory::of(store, &handle)?;
    above.may_remove()?;
    above.change(false, move |directory| files::unlink::<Native>(directory, Path::new(&path))).await
}

async fn rename_at(
    store: GuestStore<'_, '_>,
    (handle, path, new_handle, new_path): (DescriptorHandle, String, DescriptorHandle, String),
) -> FsResult<()> {
    let (from, to) = (OpenDirectory::of(store, &handle)?, OpenDirectory::of(store, &new_handle)?);
    // Moving a file away is writing, too.
    from.may_remove()?;
    to.may_remove()?;
    from.same_volume(&to)?;
    let into = Arc::clone(&to.directory.dir);
    from.change(false, move |from| files::rename::<Native>(from, Path::new(&path), &into, Path::new(&new_path))).await
}

/// The operator's other programs follow links in their folders to wherever these lead, so
/// that plugins make none there.
async fn symlink_at(
    store: GuestStore<'_, '_>,
    (handle, target, path): (DescriptorHandle, String, String),
) -> FsResult<()> {
    let above = OpenDirectory::of(store, &handle)?;
    if above.descriptor.exchange {
        return Err(ErrorCode::NotPermitted.into());
    }
    above.may_make().await?;
    above.change(true, move |directory| files::symlink::<Native>(Path::new(&target), directory, Path::new(&path))).await
}

/// Two names of one file are in one place: the file of a folder, with a name in a workspace,
/// would be there for its processes.
async fn link_at(
    store: GuestStore<'_, '_>,
    (handle, flags, path, new_handle, new_path): (DescriptorHandle, PathFlags, String, DescriptorHandle, String),
) -> FsResult<()> {
    let (from, to) = (OpenDirectory::of(store, &handle)?, OpenDirectory::of(store, &new_handle)?);
    if from.descriptor.exchange || to.descriptor.exchange {
        return Err(ErrorCode::NotPermitted.into());
    }
    if flags.contains(PathFlags::SYMLINK_FOLLOW) {
        return Err(ErrorCode::Invalid.into());
    }
    from.may_remove()?;
    from.same_volume(&to)?;
    to.may_make().await?;
    let into = Arc::clone(&to.directory.dir);
    from.change(true, move |from| files::link::<Native>(from, Path::new(&path), &into, Path::new(&new_path))).await
}

async fn set_size(store: GuestStore<'_, '_>, (handle, size): (DescriptorHandle, u64)) -> FsResult<()> {
    let guest = store.data_mut();
    let file = guest.writable_file(&handle)?.file;
    let meter = guest.open_descriptor(&handle)?.meter.clone();
    let looking = Arc::clone(&file);
    let longer = size.saturating_sub(blocking(move || looking.metadata()).await??.len());
    if longer > 0 {
        meter.take_length(longer)?;
    }
    blocking(move || meter.metered(&file, longer, || file.set_len(size))).await??;
    Ok(())
}
