//! `wasi:filesystem`, with the directories that were granted and with an `open`
//! of the host's own (see [`crate::files`]); whatever writes, makes, removes, lists or streams
//! is the host's own as well, and counted where it happens. The rest is WASI's, on handles
//! that come from there.

mod changes;
mod moves;

use std::{path::Path, sync::Arc};

use rustix::io::Errno;
use tokio::task::spawn_blocking;
use wasmtime::{
    StoreContextMut,
    component::{HasData, Linker, Resource, ResourceType},
};
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir, File, FsPerms, OpenMode},
    p2::bindings::filesystem::{
        preopens,
        types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    },
};
use wharf_core::{Code, Share, grant::Access};
use wharf_workspace::Volume;

use super::workspace::{EXCHANGE, FILES};
use crate::{
    budget::Exceeded,
    files::{
        self, Change, Opened, Opening,
        listing::Listing,
        meter::{Handle, Meter, Refusal},
    },
    guest::Guest,
    watch,
};

/// The interface of which functions are replaced: the version that the
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
        guest.call.budget.wasi_call();
        Preopens(guest)
    })?;
    watch::watched(linker, Guest::view, |linker| {
        let mut types = linker.instance(TYPES)?;
        types.func_wrap_async("[method]descriptor.open-at", |mut store, parameters| {
            Box::new(async move { Ok((open_at(&mut store, parameters).await?,)) })
        })?;
        changes::link(&mut types)?;
        moves::link(&mut types)?;
        types.resource("descriptor", ResourceType::host::<Descriptor>(), |mut store, handle| {
            let guest: &mut Guest = store.data_mut();
            guest.handles.remove(&handle);
            guest.table.delete(Resource::<Descriptor>::new_own(handle))?;
            Ok(())
        })?;
        types.resource("directory-entry-stream", ResourceType::host::<Listing>(), |mut store, listing| {
            let guest: &mut Guest = store.data_mut();
            guest.table.delete(Resource::<Listing>::new_own(listing))?;
            Ok(())
        })
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

watch::weightless!(PathFlags, OpenFlags, DescriptorFlags);

impl watch::Refusal for ErrorCode {
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

impl preopens::Host for Preopens<'_> {
    /// Asked for when a guest first touches a file, not when it is made.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut handed = Vec::new();
        for Granted { name, directory, access, exchange, volume } in self.0.directories() {
            let (perms, mode) = match access {
                Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
                Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
            };
            let meter = Meter::new(Arc::clone(&self.0.call), volume);
            let descriptor = Descriptor::Dir(Dir::new(directory, perms, mode, false));
            handed.push((self.0.hand_out(descriptor, meter, exchange)?, name));
        }
        Ok(handed)
    }
}

/// A directory that a guest is given.
struct Granted {
    name: String,
    directory: std::fs::File,
    access: Access,
    exchange: bool,
    volume: Arc<Volume>,
}

impl Guest {
    /// What is granted, exists and can be opened now.
    fn directories(&self) -> Vec<Granted> {
        let (Ok(granted), Ok(workspaces)) =
            (self.call.grants().workspace(&self.call.plugin), self.call.rooms.workspaces())
        else {
            return Vec::new();
        };
        let key = granted.key(self.call.context());
        let own = workspaces.find(&key).map(|own| (FILES.to_owned(), own.files, granted.grant().access, false));
        let exchange = granted.grant().exchange.iter();
        let exchange =
            exchange.map(|folder| (format!("{EXCHANGE}/{}", folder.name), folder.path.clone(), folder.access, true));
        let open = |path: &Path, exchange| {
            let directory = files::root(path)?;
            let volume =
                if exchange { workspaces.folder(&directory)? } else { workspaces.volume(&key).ok_or(Errno::NOENT)? };
            Ok::<_, std::io::Error>((directory, volume))
        };
        let opened = own.into_iter().chain(exchange).filter_map(|(name, path, access, exchange)| {
            match open(&path, exchange) {
                Ok((directory, volume)) => Some(Granted { name, directory, access, exchange, volume }),
                Err(error) => {
                    tracing::warn!(plugin = %self.call.plugin, path = %path.display(), %error, "a granted folder cannot be opened");
                    None
                }
            }
        });
        opened.collect()
    }

    /// Counts something that stays open, or ends the call.
    fn keep_open(&self) -> wasmtime::Result<Share> {
        let taken = self.call.open_handles.take(&self.call.context().tenant, &self.call.context().session, 1);
        taken.map_err(|full| wasmtime::Error::new(Exceeded::Handles(full)))
    }

    /// Gives a guest a handle. As in WASI's own, a table that is full ends the call.
    fn hand_out(
        &mut self,
        descriptor: Descriptor,
        meter: Meter,
        exchange: bool,
    ) -> wasmtime::Result<Resource<Descriptor>> {
        let _share = self.keep_open()?;
        let resource = self.table.push(descriptor)?;
        self.handles.insert(resource.rep(), Arc::new(Handle { meter, exchange, _share }));
        Ok(resource)
    }

    /// What a handle stands for.
    fn handle(&self, handle: &Resource<Descriptor>) -> wasmtime::Result<Arc<Handle>> {
        self.handles
            .get(&handle.rep())
            .map(Arc::clone)
            .ok_or_else(|| wasmtime::format_err!("a handle that nobody gave out"))
    }

    fn file(&self, handle: &Resource<Descriptor>) -> wasmtime::Result<Result<File, ErrorCode>> {
        Ok(match self.table.get(handle)? {
            Descriptor::File(file) => Ok(file.clone()),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor),
        })
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
    let of = guest.handle(&handle)?;
    if opening.write
        && let Err(error) = may_write(&directory, &of.meter, opening.create).await?
    {
        return Ok(Err(error));
    }
    let root = Arc::clone(&directory.dir);
    let opened = spawn_blocking(move || files::open(&*root, Path::new(&path), opening)).await?;
    let change = opened.as_ref().map_or_else(|_| Change::default(), |(_, change)| *change);
    of.meter.changed(u64::from(opening.create), change);
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, opening.read);
    mode.set(OpenMode::WRITE, opening.write);
    let descriptor = match opened {
        Ok((Opened::File(file), _)) => Descriptor::File(File::new(file, directory.perms, mode, false)),
        Ok((Opened::Directory(opened), _)) => Descriptor::Dir(Dir::new(opened, directory.perms, mode, false)),
        Err(error) => return Ok(Err(error.into())),
    };
    store.data_mut().hand_out(descriptor, of.meter.clone(), of.exchange).map(Ok)
}

/// Checks that something may be written below a directory; takes room for one entry where
/// something may be made.
async fn may_write(directory: &Dir, meter: &Meter, make: bool) -> wasmtime::Result<Result<(), ErrorCode>> {
    if directory.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    if !meter.volume.is_measured() {
        let volume = Arc::clone(&meter.volume);
        if let Err(error) = spawn_blocking(move || volume.measure_first()).await? {
            return Ok(Err(error.into()));
        }
    }
    let fits = meter.check().and_then(|()| if make { meter.take_entry() } else { Ok(()) });
    fits.map_or_else(refused, |()| Ok(Ok(())))
}

/// The guest's error for what does not fit, or the end of the call.
fn refused<T>(refusal: Refusal) -> wasmtime::Result<Result<T, ErrorCode>> {
    match refusal {
        Refusal::Full => Ok(Err(ErrorCode::Quota)),
        Refusal::Ends(exceeded) => Err(wasmtime::Error::new(exceeded)),
    }
}
