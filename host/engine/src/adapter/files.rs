//! `wasi:filesystem`, with the granted directories. The functions that open, write, make,
//! remove, list or stream are the host's own (see [`crate::files`]) and count the room that
//! they take, and those that tell times show them as the guest's clocks do. The others are WASI's,
//! on handles that come from ours (`looks`).

mod changes;
mod crossing;
mod descriptors;
mod looks;
mod moves;
mod times;

pub(super) use moves::error_code;

use std::{io, path::Path, sync::Arc};

use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource, ResourceType},
};
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir, File, FsPerms, OpenMode},
    p2::{
        FsError, FsResult,
        bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    },
};
use wharf_core::{
    WorkspaceKey, WorkspaceStay,
    grant::{Access, ExchangeFolder},
};
use wharf_workspace::{SpaceChange, Volume, Workspace, Workspaces};

use self::descriptors::{DescriptorHandle, blocking, may_write, returned};
use super::workspace::{EXCHANGE, FILES};
use crate::{
    files::{
        self, OpenRequest, OpenedEntry,
        listing::DirectoryListing,
        meter::WriteMeter,
        system::{FileSystem as _, Native},
    },
    guest::Guest,
    watch::{self, linked::LinkedFunctions},
};

/// The interface of which functions are replaced: the version that the
/// bindings of WASI link, which serves all earlier ones.
const TYPES: &str = "wasi:filesystem/types@0.2.12";
const PREOPENS: &str = "wasi:filesystem/preopens@0.2.12";

/// Replaces what WASI links.
pub(crate) fn link(linker: &mut Linker<Guest>, functions: &mut LinkedFunctions<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    watch::watched(linker, functions, Guest::view, |linker| {
        let mut preopens = linker.instance(PREOPENS)?;
        preopens.func_wrap_untold("get-directories", |mut store, ()| Ok((preopened(store.data_mut())?,)))?;
        let mut types = linker.instance(TYPES)?;
        types.func_wrap_async("[method]descriptor.open-at", |mut store, parameters| {
            Box::new(async move { returned(open_at(&mut store, parameters).await) })
        })?;
        changes::link(&mut types)?;
        looks::link(&mut types)?;
        moves::link(&mut types)?;
        times::link(&mut types)?;
        types.resource("descriptor", ResourceType::host::<Descriptor>(), |mut store, handle| {
            let guest: &mut Guest = store.data_mut();
            guest.handles.remove(&handle);
            guest.table.delete(Resource::<Descriptor>::new_own(handle))?;
            Ok(())
        })?;
        types.resource("directory-entry-stream", ResourceType::host::<DirectoryListing>(), |mut store, listing| {
            let guest: &mut Guest = store.data_mut();
            guest.table.delete(Resource::<DirectoryListing>::new_own(listing))?;
            Ok(())
        })
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Asked for when a guest first touches a file, not when it is made.
fn preopened(guest: &mut Guest) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
    let mut handed = Vec::new();
    for GrantedDirectory { name, directory, access, exchange, volume, stay } in guest.directories() {
        let (perms, mode) = match access {
            Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
            Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
        };
        let meter = WriteMeter::new(Arc::clone(&guest.call), volume, stay);
        let descriptor = Descriptor::Dir(Dir::new(directory, perms, mode, false));
        handed.push((guest.hand_out(descriptor, meter, exchange)?, name));
    }
    Ok(handed)
}

/// A directory that a guest is given.
struct GrantedDirectory {
    name: String,
    directory: std::fs::File,
    access: Access,
    exchange: bool,
    volume: Arc<Volume>,
    /// Keeps a workspace for as long as the guest has it open.
    stay: Option<WorkspaceStay>,
}

impl Guest {
    /// The workspace of the call. A component that does not know the contract cannot make it.
    fn own_workspace(&self, workspaces: &Workspaces, key: &WorkspaceKey, access: Access) -> Option<Workspace> {
        if !self.is_foreign || access == Access::Read {
            return workspaces.find(key);
        }
        let failed = |error: &_| {
            tracing::warn!(plugin = %self.call.plugin, %error, "the workspace of a component cannot be made");
        };
        workspaces.create(key).inspect_err(failed).ok()
    }

    /// Where a component finds its workspace. One that does not know the contract finds it as its
    /// root, too: its paths begin there.
    fn workspace_names(&self) -> &'static [&'static str] {
        if self.is_foreign { &["/", FILES] } else { &[FILES] }
    }

    /// The granted directories that exist and can be opened now.
    fn directories(&self) -> Vec<GrantedDirectory> {
        let (Ok(granted), Ok(workspaces)) =
            (self.call.grants().workspace(&self.call.plugin), self.call.backends.workspaces())
        else {
            return Vec::new();
        };
        let (key, access) = (granted.key(self.call.context()), granted.grant().access);
        let own = self.own_workspace(workspaces, &key, access);
        let own = own.iter().flat_map(|own| self.workspace_names().iter().map(move |name| (own, *name)));
        let own = own.map(|(Workspace { files, stay, .. }, name)| {
            let opened = Native::root(files).and_then(|directory| {
                let (name, stay) = (name.to_owned(), stay.clone());
                let volume = workspaces.volume(&key).ok_or(io::ErrorKind::NotFound)?;
                Ok(GrantedDirectory { name, directory, access, exchange: false, volume, stay })
            });
            (files.clone(), opened)
        });
        let folders = granted.grant().exchange.iter().map(|ExchangeFolder { name, path, access }| {
            let opened = Native::root(path).and_then(|directory| {
                let (name, volume) = (format!("{EXCHANGE}/{name}"), workspaces.folder(&directory)?);
                Ok(GrantedDirectory { name, directory, access: *access, exchange: true, volume, stay: None })
            });
            (path.clone(), opened)
        });
        let opened = own.chain(folders).filter_map(|(path, opened)| {
            let failed = |error: &std::io::Error| {
                tracing::warn!(plugin = %self.call.plugin, path = %path.display(), %error, "a granted folder cannot be opened");
            };
            opened.inspect_err(failed).ok()
        });
        opened.collect()
    }
}

type OpenAtParameters = (DescriptorHandle, PathFlags, String, OpenFlags, DescriptorFlags);

async fn open_at(
    store: &mut StoreContextMut<'_, Guest>,
    (handle, path_flags, path, open_flags, flags): OpenAtParameters,
) -> FsResult<DescriptorHandle> {
    let guest = store.data_mut();
    let directory = guest.directory(&handle)?;
    let mut request = OpenRequest {
        read: flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE),
        write: flags.contains(DescriptorFlags::WRITE) || open_flags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE),
        create: open_flags.contains(OpenFlags::CREATE),
        exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
        truncate: open_flags.contains(OpenFlags::TRUNCATE),
        directory: open_flags.contains(OpenFlags::DIRECTORY),
        follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
    };
    let synchronous = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(synchronous) {
        return Err(ErrorCode::Unsupported.into());
    }
    if request.directory && (request.create || request.exclusive || request.truncate) {
        return Err(ErrorCode::Invalid.into());
    }
    let above = guest.open_descriptor(&handle)?;
    if request.write {
        may_write(&directory, &above.meter).await?;
    }
    // A volume that is full of entries takes no further file, and lets one be written that exists.
    let full = if request.create { above.meter.reserve_entry().err() } else { None };
    if let Some(full) = &full {
        if request.exclusive {
            return Err(above.meter.refuse(*full).into());
        }
        request.create = false;
    }
    let root = Arc::clone(&directory.dir);
    let opened = blocking(move || files::open::<Native>(&root, Path::new(&path), request)).await?;
    let change = opened.as_ref().map_or_else(|_| SpaceChange::default(), |(_, change)| *change);
    above.meter.changed(u64::from(request.create), change);
    if let (Err(error), Some(full)) = (&opened, full)
        && error.kind() == io::ErrorKind::NotFound
    {
        return Err(above.meter.refuse(full).into());
    }
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, request.read);
    mode.set(OpenMode::WRITE, request.write);
    let descriptor = match opened?.0 {
        OpenedEntry::File(file) => Descriptor::File(File::new(file, directory.perms, mode, false)),
        OpenedEntry::Directory(opened) => Descriptor::Dir(Dir::new(opened, directory.perms, mode, false)),
    };
    let handle = store.data_mut().hand_out(descriptor, above.meter.clone(), above.exchange);
    handle.map_err(FsError::trap)
}
