//! How much a workspace or an exchange folder holds: counted while the host writes there,
//! and put right by measuring, which also sees what processes wrote.
//!
//! What is counted while it is written is never too little: a file that is written over,
//! or has holes, may count for more than it takes until it is measured. It never knows
//! who writes, or how.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use wharf_core::quota::{Level, QuotaFull, Share};

use crate::measure::{Usage, measure, measure_below};

/// Measured this often at most...
const OFTEN: Duration = Duration::from_secs(1);
/// ...and after a rest this many times longer than measuring takes, so that a large one
/// keeps no disk busy.
const REST: u32 = 10;
/// What runs somewhere is looked for once a second: what has ended may have been at work so
/// long after it was last seen.
const UNSEEN: Duration = Duration::from_secs(2);
/// One that nobody wrote to for so long is not measured again.
const ACTIVE: Duration = Duration::from_secs(30);

/// What is measured.
#[derive(Debug)]
pub(crate) enum Extent {
    /// The parts of a workspace.
    Parts(Vec<PathBuf>),
    /// A folder of the operator's.
    Folder(File),
}

/// A workspace or an exchange folder, as something that is filled.
#[derive(Debug)]
pub struct Volume {
    extent: Extent,
    most_entries: u64,
    // Held for a few look-ups, never while files are touched.
    held: Mutex<Held>,
    // Held while it is measured, on a thread for blocking work: once at a time.
    measuring: Mutex<()>,
}

#[derive(Debug)]
struct Held {
    bytes: Share,
    entries: Share,
    /// All that was ever taken, to know what was while somebody measured.
    taken_bytes: u64,
    taken_entries: u64,
    measured: Option<Usage>,
    used: Instant,
    due: Instant,
    /// When the last measure began, and when the next may.
    began: Option<Instant>,
    rested: Instant,
}

impl Volume {
    /// Holds what `measured` says; it has to be measured first where that is nothing.
    pub(crate) fn new(
        extent: Extent,
        most_entries: u64,
        bytes: Share,
        entries: Share,
        measured: Option<Usage>,
    ) -> Self {
        let now = Instant::now();
        let held = Held {
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
        Self { extent, most_entries, held: Mutex::new(held), measuring: Mutex::default() }
    }

    /// Takes room for what is about to be written, all of it or nothing.
    ///
    /// # Errors
    /// The limit that it would break.
    pub fn take(&self, bytes: u64, entries: u64) -> Result<(), QuotaFull> {
        let mut held = self.lock();
        held.used = Instant::now();
        held.bytes.grow(bytes)?;
        if let Err(full) = held.entries.grow(entries) {
            held.bytes.shrink(bytes);
            return Err(full);
        }
        held.taken_bytes = held.taken_bytes.saturating_add(bytes);
        held.taken_entries = held.taken_entries.saturating_add(entries);
        Ok(())
    }

    /// Gives back room: what was taken and not used, or what was removed.
    pub fn give_back(&self, bytes: u64, entries: u64) {
        let mut held = self.lock();
        held.bytes.shrink(bytes);
        held.entries.shrink(entries);
    }

    /// What was written took more than was taken for it.
    pub fn record(&self, bytes: u64) {
        let mut held = self.lock();
        held.bytes.record(bytes);
        held.taken_bytes = held.taken_bytes.saturating_add(bytes);
    }

    /// The limit that it breaks now: it, its tenant, or all tenants together hold too much.
    #[must_use]
    pub fn excess(&self) -> Option<QuotaFull> {
        let mut held = self.lock();
        held.bytes.grow(0).err().or_else(|| held.entries.grow(0).err())
    }

    /// Whether it was ever measured.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.lock().measured.is_some()
    }

    /// Measures it, unless that was ever done. Blocks.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure_first(&self) -> io::Result<()> {
        let _measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_measured() { Ok(()) } else { self.measure_alone().map(drop) }
    }

    /// Measures it. Blocks, for as long as reading all of it takes.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure(&self) -> io::Result<Measured> {
        let _measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        self.measure_alone()
    }

    /// Measures it where something may have changed it since it was last measured, and it
    /// has rested since: as long in proportion as between all measures, and however short
    /// that is, so that whoever starts one short process after the other finds it full.
    /// Blocks.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn measure_if_stale(&self) -> io::Result<()> {
        let _measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stale() && self.lock().rested <= Instant::now() { self.measure_alone().map(drop) } else { Ok(()) }
    }

    /// Whether something may have changed it since it was last measured.
    pub(crate) fn is_stale(&self) -> bool {
        let held = self.lock();
        held.began.is_none_or(|began| held.used + UNSEEN >= began)
    }

    fn measure_alone(&self) -> io::Result<Measured> {
        let (began, before) = {
            let held = self.lock();
            (Instant::now(), (held.taken_bytes, held.taken_entries))
        };
        let read = self.read();
        let mut guard = self.lock();
        let held = &mut *guard;
        let rest = began.elapsed() * REST;
        (held.began, held.rested) = (Some(began), Instant::now() + rest);
        held.due = Instant::now() + OFTEN.max(rest);
        // A failure is not forgotten while the volume rests: what cannot be read is measured anew.
        let usage = read.inspect_err(|_| held.measured = None)?;
        // What was never measured may be as old as the disk.
        let grew = held.measured.is_some_and(|last| usage.bytes > last.bytes || usage.entries > last.entries);
        held.measured = Some(usage);
        // What was taken meanwhile may not have been seen.
        set(&mut held.bytes, usage.bytes.saturating_add(held.taken_bytes - before.0));
        set(&mut held.entries, usage.entries.saturating_add(held.taken_entries - before.1));
        let excess = held.bytes.grow(0).err().or_else(|| held.entries.grow(0).err());
        Ok(Measured { usage, excess, grew })
    }

    fn read(&self) -> io::Result<Usage> {
        match &self.extent {
            Extent::Folder(folder) => measure_below(folder, self.most_entries),
            Extent::Parts(parts) => {
                let mut sum = Usage::default();
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

    /// Whether it was used lately, and the last measure is old enough.
    pub(crate) fn is_due(&self, now: Instant, inhabited: bool) -> bool {
        let held = self.lock();
        held.due <= now && (inhabited || now.saturating_duration_since(held.used) < ACTIVE)
    }

    pub(crate) fn note_use(&self) {
        self.lock().used = Instant::now();
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was found where something was measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// What it holds.
    pub usage: Usage,
    /// The limit that is broken.
    pub excess: Option<QuotaFull>,
    grew: bool,
}

impl Measured {
    /// Whether what runs there must end: it holds too much itself, or grew since the measure
    /// before this one while its tenant or all tenants together hold too much.
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
