//! What a directory holds, read as the guest asks for it: WASI's own listing reads all of
//! it first, and a guest makes as many entries and listings as it likes.

use std::{collections::VecDeque, fs::File, io};

use wasmtime_wasi::p2::bindings::filesystem::types::{DirectoryEntry, ErrorCode};
use wharf_core::Share;

use super::system::{FileSystem, Native};

/// So many entries are read at once.
const AHEAD: usize = 64;

/// A listing that is being read.
pub(crate) struct DirectoryListing {
    /// Away while a thread reads on.
    pub(crate) reading: Option<DirectoryReader>,
    pub(crate) ahead: VecDeque<Result<DirectoryEntry, ErrorCode>>,
    pub(crate) _share: Share,
}

/// Where it stands.
pub(crate) struct DirectoryReader(<Native as FileSystem>::Listing);

impl DirectoryReader {
    /// From the beginning. The directory need not stay open.
    pub(crate) fn begin(directory: &File) -> io::Result<Self> {
        Native::list(directory).map(Self)
    }

    /// The next entries; none at the end.
    pub(crate) fn next(&mut self) -> VecDeque<Result<DirectoryEntry, ErrorCode>> {
        let mut entries = VecDeque::new();
        while entries.len() < AHEAD {
            let Some(entry) = Native::next_entry(&mut self.0) else { break };
            let failed = entry.is_err();
            entries.push_back(entry);
            if failed {
                break;
            }
        }
        entries
    }
}
