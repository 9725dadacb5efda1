//! Counts what a call writes, against its limits and those of the place.

use std::{fs::File, io, sync::Arc};

use wharf_core::{QuotaFull, Share, TenantId, WorkspaceStay};
use wharf_workspace::{SpaceChange, Volume};

use super::{
    facts::FileFacts,
    system::{FileSystem as _, Native},
};
use crate::{budget::ExceededLimit, call::ActiveCall};

/// Counts for a call, and for the workspace or exchange folder that it writes to.
#[derive(Clone)]
pub(crate) struct WriteMeter {
    call: Arc<ActiveCall>,
    pub(crate) volume: Arc<Volume>,
    /// Keeps the workspace: what is written to removed files would be lost. Absent for a folder.
    _stay: Option<WorkspaceStay>,
}

/// A write that does not fit.
#[derive(Debug)]
pub(crate) enum WriteRefusal {
    /// The guest gets an error.
    Full,
    /// The call ends.
    Ends(ExceededLimit),
}

/// A file or directory that a guest has open: what belongs to it beside the descriptor.
pub(crate) struct OpenDescriptor {
    pub(crate) meter: WriteMeter,
    /// It is in a folder of the operator's.
    pub(crate) exchange: bool,
    pub(crate) _share: Share,
}

impl WriteMeter {
    pub(crate) fn new(call: Arc<ActiveCall>, volume: Arc<Volume>, stay: Option<WorkspaceStay>) -> Self {
        Self { call, volume, _stay: stay }
    }

    /// Counts data that the guest writes to a stream, and takes room for it.
    pub(crate) fn take_written(&self, bytes: u64) -> Result<(), WriteRefusal> {
        self.call.budget.wrote(bytes).map_err(WriteRefusal::Ends)?;
        self.take(bytes)
    }

    /// Takes room for data that was counted when the guest handed it over.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), WriteRefusal> {
        self.fits(bytes, 0)
    }

    /// Takes room for a file that gets longer without data.
    pub(crate) fn take_length(&self, bytes: u64) -> Result<(), WriteRefusal> {
        // A length that nothing could hold is the guest's error, and no end of the call.
        self.fits(bytes, 0)?;
        self.call.budget.grew(bytes).map_err(WriteRefusal::Ends)
    }

    /// Takes room for something that may be made.
    pub(crate) fn take_entry(&self) -> Result<(), WriteRefusal> {
        self.fits(0, 1)
    }

    /// Whether anything can be written at all. It has to be measured for that once, which
    /// blocks.
    pub(crate) fn check(&self) -> Result<(), WriteRefusal> {
        match self.volume.excess_of(self.tenant()) {
            None => Ok(()),
            Some(full) => Err(self.refuse(full)),
        }
    }

    /// Takes room for an entry that may exist already; nothing is refused yet.
    pub(crate) fn reserve_entry(&self) -> Result<(), QuotaFull> {
        self.volume.take(self.tenant(), 0, 1)
    }

    /// Refuses a write: it fails, or ends its call where too many failed before.
    pub(crate) fn refuse(&self, full: QuotaFull) -> WriteRefusal {
        match self.call.budget.refused_write(full) {
            Ok(()) => WriteRefusal::Full,
            Err(ends) => WriteRefusal::Ends(ends),
        }
    }

    fn fits(&self, bytes: u64, entries: u64) -> Result<(), WriteRefusal> {
        self.volume.take(self.tenant(), bytes, entries).map_err(|full| self.refuse(full))
    }

    /// Corrects the count after a change, for which `taken` entries had been taken.
    pub(crate) fn changed(&self, taken: u64, change: SpaceChange) {
        self.volume.changed(self.tenant(), taken, change);
    }

    /// Changes a file for which `taken` bytes were taken, and puts right how much it grew.
    pub(crate) fn metered<T>(&self, file: &File, taken: u64, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let before = Native::facts(file);
        let changed = change();
        if let (Ok(before), Ok(after)) = (before, Native::facts(file)) {
            let (more, less) = beyond(&before, &after);
            self.volume.wrote(self.tenant(), before.number, taken, more, less);
        }
        changed
    }

    /// The tenant whose call this is.
    fn tenant(&self) -> &TenantId {
        &self.call.context().tenant
    }
}

/// How much more, or less, a file takes than before. A file with holes counts by its length
/// where it gets longer: so does one on a disk that reports late how much it takes.
fn beyond(before: &FileFacts, after: &FileFacts) -> (u64, u64) {
    let more = after.taken.saturating_sub(before.taken);
    let longer = if after.taken < after.size { after.size.saturating_sub(before.size) } else { 0 };
    (more.max(longer), before.taken.saturating_sub(after.taken))
}

#[cfg(test)]
mod tests {
    use wharf_workspace::FileNumber;

    use super::*;
    use crate::files::facts::EntryKind;

    #[test]
    fn a_file_counts_by_what_it_takes_and_by_its_length_where_it_has_holes() {
        let of = |size, taken| FileFacts {
            number: FileNumber { device: 1, inode: 1 },
            kind: EntryKind::File,
            size,
            taken,
            names: 1,
            mode: 0,
        };
        let grown = |before: (u64, u64), after: (u64, u64)| beyond(&of(before.0, before.1), &of(after.0, after.1));
        assert_eq!(grown((0, 0), (5_000, 8_192)), (8_192, 0));
        assert_eq!(grown((4_900, 8_192), (5_000, 8_192)), (0, 0), "it is written over");
        assert_eq!(grown((0, 0), (1 << 40, 0)), (1 << 40, 0), "a length alone");
        assert_eq!(grown((1 << 40, 0), (1 << 40, 4_096)), (4_096, 0), "a hole is filled");
        assert_eq!(grown((9_000, 12_288), (0, 0)), (0, 12_288));
    }
}
