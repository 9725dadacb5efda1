//! `wasi:filesystem`, with the directories that were granted and with an `open`
//! of the host's own (see [`crate::files`]); the rest is WASI's, on handles
//! that come from there.

use std::path::Path;

use tokio::task::spawn_blocking;
use wasmtime::{
    StoreContextMut,
    component::{HasData, Linker, Resource},
};
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir, File, FsPerms, OpenMode},
    p2::bindings::filesystem::{
        preopens,
        types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    },
};
use wharf_core::grant::Access;

use super::workspace::{EXCHANGE, FILES};
use crate::{
    files::{self, Opened, Opening},
    guest::Guest,
    watch,
};

/// The interface of which three functions are replaced: the version that the
/// bindings of WASI link, which serves all earlier ones.
const TYPES: &str = "wasi:filesystem/types@0.2.12";

struct Preopens<'g>(&'g mut Guest);

struct HasPreopens;

impl HasData for HasPreopens {
    type Data<'g> = Preopens<'g>;
}

/// Replaces what WASI links.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    preopens::add_to_linker::<_, HasPreopens>(linker, |guest: &mut Guest| {
        guest.budget.wasi_call();
        Preopens(guest)
    })?;
    watch::watched(linker, |linker| {
        let mut types = linker.instance(TYPES)?;
        types.func_wrap_async("[method]descriptor.open-at", |mut store, parameters| {
            Box::new(async move { Ok((open_at(&mut store, parameters).await?,)) })
        })?;
        types.func_wrap_async("[method]descriptor.create-directory-at", |mut store, parameters| {
            Box::new(async move { Ok((create_directory_at(&mut store, parameters).await?,)) })
        })?;
        types.func_wrap_async("[method]descriptor.rename-at", |mut store, parameters| {
            Box::new(async move { Ok((rename_at(&mut store, parameters).await?,)) })
        })
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

impl preopens::Host for Preopens<'_> {
    /// Asked for when a guest first touches a file, not when it is made.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut handed = Vec::new();
        for (path, directory, access) in self.0.directories() {
            let (perms, mode) = match access {
                Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
                Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
            };
            let descriptor = Descriptor::Dir(Dir::new(directory, perms, mode, false));
            handed.push((self.0.table.push(descriptor)?, path));
        }
        Ok(handed)
    }
}

impl Guest {
    /// What is granted, exists and can be opened now.
    fn directories(&self) -> Vec<(String, std::fs::File, Access)> {
        let (Ok(granted), Ok(workspaces)) = (self.grants.workspace(&self.plugin), self.rooms.workspaces()) else {
            return Vec::new();
        };
        let own = workspaces.find(&granted.key(&self.context));
        let own = own.map(|workspace| (FILES.to_owned(), workspace.files, granted.grant().access));
        let exchange = granted.grant().exchange.iter();
        let exchange =
            exchange.map(|folder| (format!("{EXCHANGE}/{}", folder.name), folder.path.clone(), folder.access));
        let opened = own.into_iter().chain(exchange).filter_map(|(name, path, access)| match files::root(&path) {
            Ok(directory) => Some((name, directory, access)),
            Err(error) => {
                tracing::warn!(plugin = %self.plugin, path = %path.display(), %error, "a granted folder cannot be opened");
                None
            }
        });
        opened.collect()
    }

    /// Files of a workspace that holds more than it may are not written.
    fn workspace_is_full(&self) -> bool {
        let (Ok(granted), Ok(workspaces)) = (self.grants.workspace(&self.plugin), self.rooms.workspaces()) else {
            return false;
        };
        workspaces.is_full(&granted.key(&self.context))
    }

    fn directory(&self, handle: &Resource<Descriptor>) -> wasmtime::Result<Result<Dir, ErrorCode>> {
        Ok(match self.table.get(handle)? {
            Descriptor::Dir(directory) => Ok(directory.clone()),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory),
        })
    }
}

type OpenAt = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);

async fn open_at(
    store: &mut StoreContextMut<'_, Guest>,
    (handle, path_flags, path, open_flags, flags): OpenAt,
) -> wasmtime::Result<Result<Resource<Descriptor>, ErrorCode>> {
    let guest = store.data_mut();
    guest.budget.wasi_call();
    let directory = match guest.directory(&handle)? {
        Ok(directory) => directory,
        Err(error) => return Ok(Err(error)),
    };
    let opening = Opening {
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
        return Ok(Err(ErrorCode::Unsupported));
    }
    if opening.directory && (opening.create || opening.exclusive || opening.truncate) {
        return Ok(Err(ErrorCode::Invalid));
    }
    if let Err(error) = may_write(guest, &directory, opening.write) {
        return Ok(Err(error));
    }
    let root = std::sync::Arc::clone(&directory.dir);
    let opened = spawn_blocking(move || files::open(&*root, Path::new(&path), opening)).await?;
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, opening.read);
    mode.set(OpenMode::WRITE, opening.write);
    let descriptor = match opened {
        Ok(Opened::File(file)) => Descriptor::File(File::new(file, directory.perms, mode, false)),
        Ok(Opened::Directory(opened)) => Descriptor::Dir(Dir::new(opened, directory.perms, mode, false)),
        Err(error) => return Ok(Err(error.into())),
    };
    // As in WASI's own: a table that is full ends the call.
    Ok(Ok(store.data_mut().table.push(descriptor)?))
}

async fn create_directory_at(
    store: &mut StoreContextMut<'_, Guest>,
    (handle, path): (Resource<Descriptor>, String),
) -> wasmtime::Result<Result<(), ErrorCode>> {
    let guest = store.data_mut();
    guest.budget.wasi_call();
    let directory = match guest.directory(&handle)? {
        Ok(directory) => directory,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = may_write(guest, &directory, true) {
        return Ok(Err(error));
    }
    let made = spawn_blocking(move || files::make_directory(&*directory.dir, Path::new(&path))).await?;
    Ok(made.map_err(ErrorCode::from))
}

async fn rename_at(
    store: &mut StoreContextMut<'_, Guest>,
    (handle, path, new_handle, new_path): (Resource<Descriptor>, String, Resource<Descriptor>, String),
) -> wasmtime::Result<Result<(), ErrorCode>> {
    let guest = store.data_mut();
    guest.budget.wasi_call();
    let (from, to) = match (guest.directory(&handle)?, guest.directory(&new_handle)?) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    // Taking something away is writing, too; what is full may give files up.
    if from.perms.write_not_permitted() || to.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let rename = move || files::rename(&*from.dir, Path::new(&path), &*to.dir, Path::new(&new_path));
    Ok(spawn_blocking(rename).await?.map_err(ErrorCode::from))
}

fn may_write(guest: &Guest, directory: &Dir, write: bool) -> Result<(), ErrorCode> {
    if !write {
        return Ok(());
    }
    if directory.perms.write_not_permitted() {
        return Err(ErrorCode::NotPermitted);
    }
    if guest.workspace_is_full() {
        return Err(ErrorCode::Quota);
    }
    Ok(())
}
