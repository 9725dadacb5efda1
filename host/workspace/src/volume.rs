//! The size of a workspace or an exchange folder: counted while the host writes there,
//! and corrected by measurements, which also see files of processes.
//!
//! The count is never too small: a file that is overwritten
//! or has holes may count for more than it takes until the next measurement. It never knows
//! how a write is made, and only of a folder that tenants share who makes it.

use std::{
    fs::File,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    TenantId,
    quota::{Level, QuotaFull, Share},
};

use crate::{
    DiskUsage,
    owners::{FileNumber, FolderOwners, OwnersWalk},
    system::{measure, measure_below},
};

/// Shortest time between two measurements...
const OFTEN: Duration = Duration::from_secs(1);
/// ...which also rest this many times longer than one takes, so that a large volume
/// keeps no disk busy.
const REST: u32 = 10;
/// The host looks for running processes once a second: a process may have written for so
/// long after the last look that saw it.
const UNSEEN: Duration = Duration::from_secs(2);
/// A volume without writes for so long is not measured again.
const ACTIVE: Duration = Duration::from_secs(30);

/// The directories of a volume.
#[derive(Debug)]
pub(crate) enum VolumeExtent {
    /// The parts of a workspace.
    Parts(Vec<PathBuf>),
    /// A folder of the operator's.
    Folder(File),
}

/// What a change of files came to, in room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceChange {
    /// The file or directory that was made or cut, or is there no longer.
    pub file: Option<FileNumber>,
    /// Bytes on disk that are free now.
    pub freed_bytes: u64,
    /// Files or directories that are there no longer.
    pub gone: u64,
    /// Files or directories that were not there.
    pub made: u64,
    /// Something has another name or place.
    pub moved: bool,
}

/// A workspace or an exchange folder, as a volume that writes fill.
#[derive(Debug)]
pub struct Volume {
    extent: VolumeExtent,
    most_entries: u64,
    // Held for a few look-ups, never while files are touched.
    state: Mutex<VolumeState>,
    // Held during a measurement, on a thread for blocking work: one at a time.
    measuring: Mutex<()>,
}

#[derive(Debug)]
struct VolumeState {
    bytes: Share,
    entries: Share,
    /// Whose the files are, where tenants share the volume.
    owners: Option<FolderOwners>,
    /// All bytes and entries that were ever taken, for the difference during a measurement.
    taken_bytes: u64,
    taken_entries: u64,
    measured: Option<DiskUsage>,
    used: Instant,
    due: Instant,
    /// When the last measurement began, and when the next one may.
    began: Option<Instant>,
    rested: Instant,
}

impl Volume {
    /// A volume of this measured size, or one that is to be measured first.
    pub(crate) fn new(
        extent: VolumeExtent,
        most_entries: u64,
        bytes: Share,
        entries: Share,
        measured: Option<DiskUsage>,
    ) -> Self {
        let now = Instant::now();
        let state = VolumeState {
            bytes,
            entries,
            owners: None,
            taken_bytes: 0,
            taken_entries: 0,
            measured,
            used: now,
            due: now,
            began: None,
            rested: now,
        };
        Self { extent, most_entries, state: Mutex::new(state), measuring: Mutex::default() }
    }

    /// The same, shared by tenants.
    pub(crate) fn shared_by_tenants(mut self, owners: FolderOwners) -> Self {
        self.state.get_mut().owners = Some(owners);
        self
    }

    /// Takes room for a write of a tenant's call, all of it or none. A workspace counts for its
    /// own tenant in each case.
    ///
    /// # Errors
    /// The limit that the write would break.
    pub fn take(&self, by: &TenantId, bytes: u64, entries: u64) -> Result<(), QuotaFull> {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.used = Instant::now();
        if let Some(owners) = &mut state.owners {
            owners.take(by, bytes, entries)?;
        }
        let taken = state.bytes.grow(bytes).and_then(|()| {
            let taken = state.entries.grow(entries);
            taken.inspect_err(|_| state.bytes.shrink(bytes))
        });
        if let Err(full) = taken {
            if let Some(owners) = &mut state.owners {
                owners.give_back(by, bytes, entries);
            }
            return Err(full);
        }
        state.taken_bytes = state.taken_bytes.saturating_add(bytes);
        state.taken_entries = state.taken_entries.saturating_add(entries);
        Ok(())
    }

    /// Corrects the count after a change by a tenant's call, which had taken room for `taken`
    /// entries.
    pub fn changed(&self, by: &TenantId, taken: u64, change: SpaceChange) {
        let mut state = self.lock();
        state.bytes.shrink(change.freed_bytes);
        state.entries.shrink(change.gone.saturating_add(taken.saturating_sub(change.made)));
        if let Some(owners) = &mut state.owners {
            owners.changed(by, taken, change);
        }
    }

    /// Corrects the count after a write by a tenant's call, which had taken `taken` bytes: the
    /// file takes so many bytes more than before, or less.
    pub fn wrote(&self, by: &TenantId, file: FileNumber, taken: u64, more: u64, less: u64) {
        let mut state = self.lock();
        if more > taken {
            state.bytes.record(more - taken);
            state.taken_bytes = state.taken_bytes.saturating_add(more - taken);
        } else {
            state.bytes.shrink((taken - more).saturating_add(less));
        }
        if let Some(owners) = &mut state.owners {
            owners.wrote(by, file, taken, more, less);
        }
    }

    /// The limit that is broken now for this tenant: its own, or one of [`Volume::excess`].
    #[must_use]
    pub fn excess_of(&self, tenant: &TenantId) -> Option<QuotaFull> {
        let own = self.lock().owners.as_mut().and_then(|owners| owners.excess(tenant));
        own.or_else(|| self.excess())
    }

    /// The limit that is broken now: the volume, its tenant, or all tenants together hold too
    /// much.
    #[must_use]
    pub fn excess(&self) -> Option<QuotaFull> {
        let mut state = self.lock();
        state.bytes.grow(0).err().or_else(|| state.entries.grow(0).err())
    }

    /// Whether the volume was ever measured.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.lock().measured.is_some()
    }

    /// Measures the volume, unless it was measured before. Blocks.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure_first(&self) -> io::Result<()> {
        let _measuring = self.measuring.lock();
        if self.is_measured() { Ok(()) } else { self.measure_alone().map(drop) }
    }

    /// Measures the volume. Blocks for as long as it takes to read all of it.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure(&self) -> io::Result<VolumeMeasurement> {
        let _measuring = self.measuring.lock();
        self.measure_alone()
    }

    /// Measures the volume where it may have changed since the last measurement and
    /// has rested for the usual share of the time that this took, however short that is, so
    /// that one short process after the other finds it full. Blocks.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure_if_stale(&self) -> io::Result<()> {
        let _measuring = self.measuring.lock();
        if self.is_stale() && self.lock().rested <= Instant::now() { self.measure_alone().map(drop) } else { Ok(()) }
    }

    /// Whether the volume may have changed since the last measurement.
    pub(crate) fn is_stale(&self) -> bool {
        let state = self.lock();
        state.began.is_none_or(|began| state.used + UNSEEN >= began)
    }

    fn measure_alone(&self) -> io::Result<VolumeMeasurement> {
        let (began, before, walk) = {
            let mut state = self.lock();
            let walk = state.owners.as_mut().map(FolderOwners::begin);
            (Instant::now(), (state.taken_bytes, state.taken_entries), walk)
        };
        let read = self.read(walk.as_ref());
        let mut guard = self.lock();
        let state = &mut *guard;
        let rest = began.elapsed() * REST;
        (state.began, state.rested) = (Some(began), Instant::now() + rest);
        state.due = Instant::now() + OFTEN.max(rest);
        // A failure is not forgotten while the volume rests: what cannot be read is measured anew.
        let usage = read.inspect_err(|_| state.measured = None)?;
        // A first measurement shows no growth: the files may be as old as the disk.
        let grew = state.measured.is_some_and(|last| usage.bytes > last.bytes || usage.entries > last.entries);
        state.measured = Some(usage);
        if let (Some(owners), Some(walk)) = (&mut state.owners, walk) {
            owners.end(&walk, !usage.incomplete);
        }
        // The measurement may have missed writes that began meanwhile.
        set(&mut state.bytes, usage.bytes.saturating_add(state.taken_bytes - before.0));
        set(&mut state.entries, usage.entries.saturating_add(state.taken_entries - before.1));
        let excess = state.bytes.grow(0).err().or_else(|| state.entries.grow(0).err());
        Ok(VolumeMeasurement { usage, excess, grew })
    }

    fn read(&self, walk: Option<&OwnersWalk>) -> io::Result<DiskUsage> {
        match &self.extent {
            VolumeExtent::Folder(folder) => measure_below(folder, self.most_entries, |file, bytes, born| {
                // Most files are nobody's. The lock is not held while the system is asked.
                if self.lock().owners.as_ref().is_some_and(|owners| owners.knows(file)) {
                    let born = born();
                    if let (Some(owners), Some(walk)) = (&mut self.lock().owners, walk) {
                        owners.see(walk, file, bytes, born);
                    }
                }
            }),
            VolumeExtent::Parts(parts) => {
                let mut sum = DiskUsage::default();
                for part in parts {
                    match measure(part, self.most_entries.saturating_sub(sum.entries)) {
                        Ok(part) => sum.add(&part),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(sum)
            }
        }
    }

    /// Whether the volume was used lately, and its last measurement is old enough.
    pub(crate) fn is_due(&self, now: Instant, inhabited: bool) -> bool {
        let state = self.lock();
        state.due <= now && (inhabited || now.saturating_duration_since(state.used) < ACTIVE)
    }

    pub(crate) fn note_use(&self) {
        self.lock().used = Instant::now();
    }

    fn lock(&self) -> MutexGuard<'_, VolumeState> {
        self.state.lock()
    }
}

/// The result of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct VolumeMeasurement {
    /// The size.
    pub usage: DiskUsage,
    /// The broken limit, if any.
    pub excess: Option<QuotaFull>,
    grew: bool,
}

impl VolumeMeasurement {
    /// Whether processes there must end: the volume holds too much itself, or grew since the
    /// last measurement while its tenant or all tenants together hold too much.
    #[must_use]
    pub fn must_end(&self) -> bool {
        self.excess.is_some_and(|full| full.level == Level::Session || self.grew)
    }
}

/// Has a share hold so much, whatever the limits say.
pub(crate) fn set(share: &mut Share, amount: u64) {
    let now = share.amount();
    if amount > now {
        share.record(amount - now);
    } else {
        share.shrink(now - amount);
    }
}
