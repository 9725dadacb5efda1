//! Exchange folders: directories of the operator's, each with a quota of its own that all
//! sessions share.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::MetadataExt as _,
    sync::{Arc, Mutex, PoisonError},
};

use wharf_core::{ProcessLimits, Quota, SessionId, TenantId, quota::Bounds};

use crate::volume::{Volume, VolumeExtent};

/// The volumes of exchange folders, by device and inode: a folder may be granted twice.
#[derive(Debug)]
pub(crate) struct ExchangeFolders {
    bytes: u64,
    entries: u64,
    // Held for a look-up.
    volumes: Mutex<HashMap<(u64, u64), Arc<Volume>>>,
}

impl ExchangeFolders {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        Self { bytes: limits.exchange_bytes, entries: limits.workspace_entries, volumes: Mutex::default() }
    }

    pub(crate) fn volume(&self, folder: &File) -> io::Result<Arc<Volume>> {
        let metadata = folder.metadata()?;
        let mut volumes = self.volumes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(volume) = volumes.get(&(metadata.dev(), metadata.ino())) {
            return Ok(Arc::clone(volume));
        }
        // Without a limit by tenant: the operator puts files there as well.
        let share = |resource, name, most| {
            let bounds = Bounds {
                resource,
                section: "[process.limits]",
                session: None,
                tenant: (name, u64::MAX),
                host: (name, most),
            };
            Quota::new(bounds).open(&TenantId::local(), &SessionId::default_session())
        };
        let bytes = share("bytes of one exchange folder", "exchange_bytes", self.bytes);
        let entries = share("entries of one exchange folder", "workspace_entries", self.entries);
        let volume =
            Arc::new(Volume::new(VolumeExtent::Folder(folder.try_clone()?), self.entries, bytes, entries, None));
        volumes.insert((metadata.dev(), metadata.ino()), Arc::clone(&volume));
        Ok(volume)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Volume>> {
        self.volumes.lock().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }
}
