//! What a file system says of a file or directory.

use wharf_workspace::{FileNumber, SpaceChange};

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A regular file.
    File,
    Directory,
    /// A link, or what no guest may open: a FIFO, a socket, a device.
    Other,
}

/// A file or directory, as its file system describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileFacts {
    pub(crate) number: FileNumber,
    pub(crate) kind: EntryKind,
    /// Bytes to its end.
    pub(crate) size: u64,
    /// Bytes that it takes on disk.
    pub(crate) taken: u64,
    /// How many names it has.
    pub(crate) names: u64,
    /// Its permissions, as Unix writes them; 0 where there are none.
    pub(crate) mode: u32,
}

impl FileFacts {
    /// What the end of a name comes to. The bytes of a file go with its last name alone.
    pub(crate) fn gone(&self) -> SpaceChange {
        let last = self.names <= 1 && self.kind == EntryKind::File;
        let freed_bytes = if last { self.taken } else { 0 };
        SpaceChange { file: Some(self.number), freed_bytes, gone: 1, ..SpaceChange::default() }
    }
}
