//! The disk that recordings take, by session, tenant and host, and which of them make room.
//!
//! Room is made within the tenant that asks: its oldest recordings go that have ended, of the
//! session where the session's own limit is reached. A recording that is being written stays,
//! also that of another host on the same directory, which holds a lock on its file. The files
//! say whose they are, so a later host counts what it finds. Files that say nothing are
//! nobody's: they count for nobody and are never removed.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    TerminalLimits,
    quota::{Bounds, Level, Quota, QuotaFull, Share},
};
use wharf_encryption::{AtRest, StoredFile};
use wharf_files::{private_files, regular_file};

use super::{RecordingOwner, RecordingSettings, cast};

const SUFFIX: &str = "cast";
/// What a file takes on disk is a multiple of this, nearly everywhere: many small recordings
/// count for what they take.
const BLOCK_BYTES: u64 = 4 << 10;
/// The first line of a recording is shorter.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// The recordings of a host.
#[derive(Debug)]
pub(crate) struct RecordingStore {
    settings: RecordingSettings,
    quota: Arc<Quota>,
    at_rest: AtRest,
    // Held while the directory is read, when a recording begins, and while a file is removed;
    // never while a recording is written.
    files: Mutex<RecordingFiles>,
}

/// The files of recordings by their names, which begin with the time: the oldest is first.
#[derive(Debug, Default)]
struct RecordingFiles {
    /// Those that this host writes.
    written: BTreeSet<OsString>,
    /// The others, of this host and of others.
    kept: BTreeMap<OsString, KeptRecording>,
}

/// A recording that this host does not write.
#[derive(Debug)]
struct KeptRecording {
    owner: RecordingOwner,
    share: Share,
}

/// The room of one recording that is being written. Dropping it says that the recording has
/// ended.
#[derive(Debug)]
pub(super) struct RecordingRoom {
    store: Arc<RecordingStore>,
    name: OsString,
    owner: RecordingOwner,
    share: Share,
    written_bytes: u64,
}

impl RecordingStore {
    pub(crate) fn new(settings: RecordingSettings, limits: &TerminalLimits, at_rest: AtRest) -> Arc<Self> {
        let bounds = Bounds {
            resource: "bytes of recordings",
            section: "[terminal.limits]",
            session: Some(("recording_bytes_per_session", limits.recording_bytes_per_session)),
            tenant: ("recording_bytes_per_tenant", limits.recording_bytes_per_tenant),
            host: ("recording_bytes", limits.recording_bytes),
        };
        Arc::new(Self { settings, quota: Quota::new(bounds), at_rest, files: Mutex::default() })
    }

    pub(crate) fn settings(&self) -> &RecordingSettings {
        &self.settings
    }

    /// Makes the file of a recording, with room for its first bytes.
    ///
    /// # Errors
    /// Where there is no room and none can be made, or the disk refuses.
    pub(super) fn begin(
        self: &Arc<Self>,
        owner: &RecordingOwner,
        began: DateTime<Utc>,
        name: &str,
        first_bytes: u64,
    ) -> io::Result<(RecordingRoom, StoredFile, PathBuf)> {
        private_files::make_directory(&self.settings.directory)?;
        self.look()?;
        let mut share = self.quota.open(&owner.tenant, &owner.session);
        self.grow(&mut share, owner, first_bytes).map_err(io::Error::other)?;
        let name = OsString::from(format!("{}-{name}.{SUFFIX}", began.format("%Y%m%dT%H%M%S%.3fZ")));
        let path = self.path(&name);
        let file = private_files::options().read(true).write(true).create_new(true).open(&path)?;
        // Before it says whose it is: no host takes it for one that has ended.
        file.lock()?;
        self.files().written.insert(name.clone());
        let room = RecordingRoom { store: Arc::clone(self), name, owner: owner.clone(), share, written_bytes: 0 };
        Ok((room, self.at_rest.begin(file)?, path))
    }

    /// Counts the files as they are: other hosts write and remove some, and so may the operator.
    fn look(&self) -> io::Result<()> {
        let mut files = self.files();
        let mut gone: BTreeSet<OsString> = files.kept.keys().cloned().collect();
        for entry in fs::read_dir(&self.settings.directory)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            if path.extension() != Some(OsStr::new(SUFFIX)) || files.written.contains(&name) {
                continue;
            }
            let length = match entry.metadata() {
                Ok(metadata) if metadata.is_file() => metadata.len(),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            gone.remove(&name);
            if let Some(kept) = files.kept.get_mut(&name) {
                set(&mut kept.share, length);
            } else if let Some(owner) = self.owner_of(&path) {
                let share = self.quota.record(&owner.tenant, &owner.session, on_disk(length));
                files.kept.insert(name, KeptRecording { owner, share });
            }
        }
        for name in gone {
            files.kept.remove(&name);
        }
        Ok(())
    }

    /// Has a share hold so many bytes, and makes room where it must.
    fn grow(&self, share: &mut Share, owner: &RecordingOwner, bytes: u64) -> Result<(), QuotaFull> {
        loop {
            let more = on_disk(self.at_rest.stored_bytes(bytes)).saturating_sub(share.amount());
            match share.grow(more) {
                _ if more == 0 => return Ok(()),
                Ok(()) => return Ok(()),
                Err(full) if self.make_room(full.level, owner) => {}
                Err(full) => return Err(full),
            }
        }
    }

    /// Removes the oldest recording of this tenant that has ended, or of this session where the
    /// session's own limit is reached. Says whether there was one.
    fn make_room(&self, level: Level, owner: &RecordingOwner) -> bool {
        let mut files = self.files();
        let counts = |other: &RecordingOwner| match level {
            Level::Session => other == owner,
            Level::Tenant | Level::Host => other.tenant == owner.tenant,
        };
        let removed = files
            .kept
            .iter()
            .find_map(|(name, kept)| (counts(&kept.owner) && remove_ended(&self.path(name))).then(|| name.clone()));
        removed.is_some_and(|name| files.kept.remove(&name).is_some())
    }

    /// Whose a file says that it is.
    fn owner_of(&self, path: &Path) -> Option<RecordingOwner> {
        let file = self.at_rest.open(regular_file::open_itself(path).ok()?).ok()?;
        let mut beginning = Vec::new();
        file.read_at(0, file.length().ok()?.min(MAX_HEADER_BYTES), &mut beginning).ok()?;
        let header = beginning.split(|byte| *byte == b'\n').next()?;
        cast::owner(std::str::from_utf8(header).ok()?)
    }

    fn path(&self, name: &OsStr) -> PathBuf {
        self.settings.directory.join(name)
    }

    fn files(&self) -> MutexGuard<'_, RecordingFiles> {
        self.files.lock()
    }
}

impl RecordingRoom {
    /// Has room for so many bytes in all.
    ///
    /// # Errors
    /// Where there is none and none can be made.
    pub(super) fn hold(&mut self, bytes: u64) -> Result<(), QuotaFull> {
        self.store.grow(&mut self.share, &self.owner, bytes)
    }

    /// So many bytes more are written.
    pub(super) fn count(&mut self, bytes: u64) {
        self.written_bytes += bytes;
    }

    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(super) fn name(&self) -> &Path {
        Path::new(&self.name)
    }
}

impl Drop for RecordingRoom {
    fn drop(&mut self) {
        let mut share = self.store.quota.open(&self.owner.tenant, &self.owner.session);
        std::mem::swap(&mut share, &mut self.share);
        set(&mut share, self.store.at_rest.stored_bytes(self.written_bytes));
        let name = std::mem::take(&mut self.name);
        let mut files = self.store.files();
        files.written.remove(&name);
        files.kept.insert(name, KeptRecording { owner: self.owner.clone(), share });
    }
}

/// Removes a recording that nobody writes. Says whether it is gone.
fn remove_ended(path: &Path) -> bool {
    let removed = match regular_file::open_itself(path) {
        // A host that writes it holds the lock.
        Ok(file) if file.try_lock().is_err() => return false,
        Ok(_locked) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "a recording of a terminal cannot be removed");
            false
        }
        _ => true,
    }
}

fn set(share: &mut Share, length: u64) {
    let (before, now) = (share.amount(), on_disk(length));
    share.shrink(before.saturating_sub(now));
    share.record(now.saturating_sub(before));
}

fn on_disk(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

#[cfg(test)]
mod tests;
