//! How many processes each session, each tenant and the host as a whole run and
//! keep, and how much of the disk their output takes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wharf_core::{
    ProcessLimits,
    quota::{Bounds, Quota, QuotaFull, Share},
};

use super::Settings;
use crate::{Owner, output::Disk};

const SECTION: &str = "[process.limits]";

/// What all processes of a host use.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Those that start or run, be it only what their leader left behind.
    pub(super) running: Arc<Quota>,
    /// Those of which only the tombstone is left.
    pub(super) ended: Arc<Quota>,
    /// What they print.
    pub(super) disk: Arc<Disk>,
}

impl Ledger {
    pub(super) fn new(settings: &Settings) -> Self {
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
            disk: Disk::new(bounds(
                "bytes of kept output",
                ("output_disk_bytes_per_session", output_disk_bytes_per_session),
                ("output_disk_bytes_per_tenant", output_disk_bytes_per_tenant),
                ("output_disk_bytes", output_disk_bytes),
            )),
        }
    }

    /// A place among those that run.
    pub(super) fn take_place(&self, owner: &Owner) -> Result<Seat, QuotaFull> {
        let share = self.running.take(&owner.tenant, &owner.session, 1)?;
        Ok(Seat { share: Mutex::new(Place::Running(share)), ended: Arc::clone(&self.ended) })
    }

    /// The place of a process that an earlier host has left: it is there, whatever the limits say.
    pub(super) fn tombstone(&self, owner: &Owner) -> Seat {
        let share = self.ended.record(&owner.tenant, &owner.session, 1);
        Seat { share: Mutex::new(Place::Ended(share)), ended: Arc::clone(&self.ended) }
    }
}

/// The place of one process among all others: first among those that run, then
/// among those that have ended.
#[derive(Debug)]
pub(super) struct Seat {
    // Held to change the place.
    share: Mutex<Place>,
    ended: Arc<Quota>,
}

/// Dropping a share gives its place to the next.
#[derive(Debug)]
enum Place {
    Running(#[expect(dead_code, reason = "held until the process has ended")] Share),
    Ended(#[expect(dead_code, reason = "held as long as the tombstone is kept")] Share),
    Gone,
}

impl Seat {
    /// Nothing of the process runs any more.
    pub(super) fn end(&self, owner: &Owner) {
        let mut place = self.place();
        if matches!(*place, Place::Running(_)) {
            *place = Place::Ended(self.ended.record(&owner.tenant, &owner.session, 1));
        }
    }

    /// Nobody finds the process any more.
    pub(super) fn leave(&self) {
        let mut place = self.place();
        if matches!(*place, Place::Ended(_)) {
            *place = Place::Gone;
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
