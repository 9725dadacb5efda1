//! Exchange folders: directories of the operator's, each with a quota of its own, of which each
//! tenant has a share.

use std::{collections::HashMap, fs::File, io, sync::Arc};

use parking_lot::Mutex;
use wharf_core::{ProcessLimits, Quota, SessionId, TenantId, quota::Bounds};

use crate::{
    owners::FolderOwners,
    system::FileIdentity,
    volume::{Volume, VolumeExtent},
};

/// The volumes of exchange folders, by identity: a folder may be granted twice.
#[derive(Debug)]
pub(crate) struct ExchangeFolders {
    limits: ProcessLimits,
    // Held for a look-up.
    volumes: Mutex<HashMap<FileIdentity, Arc<Volume>>>,
}

impl ExchangeFolders {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        Self { limits: limits.clone(), volumes: Mutex::default() }
    }

    pub(crate) fn volume(&self, folder: &File) -> io::Result<Arc<Volume>> {
        let identity = FileIdentity::of(folder)?;
        let mut volumes = self.volumes.lock();
        if let Some(volume) = volumes.get(&identity) {
            return Ok(Arc::clone(volume));
        }
        // The folder as a whole, to which the operator's programs add files as well. `owners` counts
        // the shares of tenants.
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
        let bytes = share("bytes of one exchange folder", "exchange_bytes", self.limits.exchange_bytes);
        let entries = share("entries of one exchange folder", "exchange_entries", self.limits.exchange_entries);
        let extent = VolumeExtent::Folder(folder.try_clone()?);
        let volume = Volume::new(extent, self.limits.exchange_entries, bytes, entries, None);
        let volume = Arc::new(volume.shared_by_tenants(FolderOwners::new(&self.limits)));
        volumes.insert(identity, Arc::clone(&volume));
        Ok(volume)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Volume>> {
        self.volumes.lock().values().map(Arc::clone).collect()
    }
}
