//! Exchange folders: directories of the operator's, each with a quota of its own that all
//! who write there share.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::MetadataExt as _,
    sync::{Arc, Mutex, PoisonError},
};

use wharf_core::{ProcessLimits, Quota, SessionId, TenantId, quota::Bounds};

use crate::volume::{Extent, Volume};

/// What is known of the exchange folders, by device and inode: one may be granted twice.
#[derive(Debug)]
pub(crate) struct Folders {
    bytes: u64,
    entries: u64,
    // Held for a look-up.
    known: Mutex<HashMap<(u64, u64), Arc<Volume>>>,
}

impl Folders {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        Self { bytes: limits.exchange_bytes, entries: limits.workspace_entries, known: Mutex::default() }
    }

    pub(crate) fn volume(&self, folder: &File) -> io::Result<Arc<Volume>> {
        let metadata = folder.metadata()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(volume) = known.get(&(metadata.dev(), metadata.ino())) {
            return Ok(Arc::clone(volume));
        }
        // Of nobody: the operator put files there as well.
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
        let volume = Arc::new(Volume::new(Extent::Folder(folder.try_clone()?), self.entries, bytes, entries, None));
        known.insert((metadata.dev(), metadata.ino()), Arc::clone(&volume));
        Ok(volume)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Volume>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }
}
