//! Exchange folders: directories of the operator's, each with a quota of its own that all
//! sessions share.

use std::{collections::HashMap, fs::File, io, sync::Arc};

use parking_lot::Mutex;
use wharf_core::{ProcessLimits, Quota, SessionId, TenantId, quota::Bounds};

use crate::{
    system::FileIdentity,
    volume::{Volume, VolumeExtent},
};

/// The volumes of exchange folders, by identity: a folder may be granted twice.
#[derive(Debug)]
pub(crate) struct ExchangeFolders {
    bytes: u64,
    entries: u64,
    // Held for a look-up.
    volumes: Mutex<HashMap<FileIdentity, Arc<Volume>>>,
}

impl ExchangeFolders {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        Self { bytes: limits.exchange_bytes, entries: limits.workspace_entries, volumes: Mutex::default() }
    }

    pub(crate) fn volume(&self, folder: &File) -> io::Result<Arc<Volume>> {
        let identity = FileIdentity::of(folder)?;
        let mut volumes = self.volumes.lock();
        if let Some(volume) = volumes.get(&identity) {
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
        volumes.insert(identity, Arc::clone(&volume));
        Ok(volume)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Volume>> {
        self.volumes.lock().values().map(Arc::clone).collect()
    }
}
