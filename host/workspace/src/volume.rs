//! The size of a workspace or an exchange folder: counted while the host writes there,
//! and corrected by measurements, which also see files of processes.
//!
//! The count is never too small: a file that is overwritten
//! or has holes may count for more than it takes until the next measurement. It never knows
//! who writes, or how.

use std::{
    fs::File,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::quota::{Level, QuotaFull, Share};

use crate::{
    DiskUsage,
    measure::{measure, measure_below},
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

    /// Takes room for a write, all of it or none.
    ///
    /// # Errors
    /// The limit that the write would break.
    pub fn take(&self, bytes: u64, entries: u64) -> Result<(), QuotaFull> {
        let mut state = self.lock();
        state.used = Instant::now();
        state.bytes.grow(bytes)?;
        if let Err(full) = state.entries.grow(entries) {
            state.bytes.shrink(bytes);
            return Err(full);
        }
        state.taken_bytes = state.taken_bytes.saturating_add(bytes);
        state.taken_entries = state.taken_entries.saturating_add(entries);
        Ok(())
    }

    /// Gives back room that was taken and not used, or that a removal freed.
    pub fn give_back(&self, bytes: u64, entries: u64) {
        let mut state = self.lock();
        state.bytes.shrink(bytes);
        state.entries.shrink(entries);
    }

    /// Counts bytes of a write beyond those that were taken for it.
    pub fn record(&self, bytes: u64) {
        let mut state = self.lock();
        state.bytes.record(bytes);
        state.taken_bytes = state.taken_bytes.saturating_add(bytes);
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
        let (began, before) = {
            let state = self.lock();
            (Instant::now(), (state.taken_bytes, state.taken_entries))
        };
        let read = self.read();
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
        // The measurement may have missed writes that began meanwhile.
        set(&mut state.bytes, usage.bytes.saturating_add(state.taken_bytes - before.0));
        set(&mut state.entries, usage.entries.saturating_add(state.taken_entries - before.1));
        let excess = state.bytes.grow(0).err().or_else(|| state.entries.grow(0).err());
        Ok(VolumeMeasurement { usage, excess, grew })
    }

    fn read(&self) -> io::Result<DiskUsage> {
        match &self.extent {
            VolumeExtent::Folder(folder) => measure_below(folder, self.most_entries),
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

fn set(share: &mut Share, amount: u64) {
    let now = share.amount();
    if amount > now {
        share.record(amount - now);
    } else {
        share.shrink(now - amount);
    }
}
