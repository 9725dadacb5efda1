//! How many processes each session, each tenant and the host as a whole run and
//! keep, and how much of the disk their output takes.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    ProcessLimits,
    quota::{Bounds, Quota, QuotaFull, Share},
};

use crate::{Owner, ProcessSettings, output::OutputDisk};

const SECTION: &str = "[process.limits]";

/// What all processes of a host use.
#[derive(Debug)]
pub(super) struct ProcessQuotas {
    /// Those that start or run, be it only what their leader left behind.
    pub(super) running: Arc<Quota>,
    /// Those of which only the tombstone is left.
    pub(super) ended: Arc<Quota>,
    /// What they print.
    pub(super) disk: Arc<OutputDisk>,
}

impl ProcessQuotas {
    pub(super) fn new(settings: &ProcessSettings) -> Self {
        let ProcessLimits {
            running_per_tenant,
            running,
            ended_per_tenant,
            ended,
            output_disk_bytes_per_session,
            output_disk_bytes_per_tenant,
            output_disk_bytes,
            ..
        } = settings.limits;
        let bounds = |resource, session, tenant, host| Bounds {
            resource,
            section: SECTION,
            session: Some(session),
            tenant,
            host,
        };
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Self {
            running: Quota::new(bounds(
                "running processes",
                ("running_per_session", count(settings.running_per_session)),
                ("running_per_tenant", running_per_tenant),
                ("running", running),
            )),
            ended: Quota::new(bounds(
                "ended processes",
                ("ended_per_session", count(settings.ended_per_session)),
                ("ended_per_tenant", ended_per_tenant),
                ("ended", ended),
            )),
            disk: OutputDisk::new(
                bounds(
                    "bytes of kept output",
                    ("output_disk_bytes_per_session", output_disk_bytes_per_session),
                    ("output_disk_bytes_per_tenant", output_disk_bytes_per_tenant),
                    ("output_disk_bytes", output_disk_bytes),
                ),
                settings.at_rest.clone(),
            ),
        }
    }

    /// A slot among those that run.
    pub(super) fn take_slot(&self, owner: &Owner) -> Result<ProcessSlot, QuotaFull> {
        let share = self.running.take(&owner.tenant, &owner.session, 1)?;
        Ok(ProcessSlot { share: Mutex::new(SlotShare::Running(share)), ended: Arc::clone(&self.ended) })
    }

    /// The slot of a process that an earlier host left: it is there, whatever the limits say.
    pub(super) fn ended_slot(&self, owner: &Owner) -> ProcessSlot {
        let share = self.ended.record(&owner.tenant, &owner.session, 1);
        ProcessSlot { share: Mutex::new(SlotShare::Ended(share)), ended: Arc::clone(&self.ended) }
    }
}

/// What one process counts as: first one of those that run, then one of those that have
/// ended.
#[derive(Debug)]
pub(super) struct ProcessSlot {
    // Held to change what it counts as.
    share: Mutex<SlotShare>,
    ended: Arc<Quota>,
}

/// Dropping a share lets another process have it.
#[derive(Debug)]
enum SlotShare {
    Running(#[expect(dead_code, reason = "held until the process has ended")] Share),
    Ended(#[expect(dead_code, reason = "held as long as the tombstone is kept")] Share),
    Gone,
}

impl ProcessSlot {
    /// Nothing of the process runs any more.
    pub(super) fn end(&self, owner: &Owner) {
        let mut share = self.share();
        if matches!(*share, SlotShare::Running(_)) {
            *share = SlotShare::Ended(self.ended.record(&owner.tenant, &owner.session, 1));
        }
    }

    /// Nobody finds the process any more.
    pub(super) fn leave(&self) {
        let mut share = self.share();
        if matches!(*share, SlotShare::Ended(_)) {
            *share = SlotShare::Gone;
        }
    }

    fn share(&self) -> MutexGuard<'_, SlotShare> {
        self.share.lock()
    }
}
