//! The size of a workspace on disk, as a measurement finds it.

/// The size of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskUsage {
    /// Bytes of its files and directories on disk.
    pub bytes: u64,
    /// Number of its files and directories, without itself.
    pub entries: u64,
    /// Whether the count is incomplete: there are more entries than the measurement counts, or
    /// directories are nested more than 256 deep.
    pub incomplete: bool,
}

impl DiskUsage {
    pub(crate) fn add(&mut self, part: &Self) {
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.entries = self.entries.saturating_add(part.entries);
        self.incomplete |= part.incomplete;
    }
}
