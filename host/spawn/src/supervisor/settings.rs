//! Copies of the system's settings, which every sandbox gets.
//!
//! The root keeps what it has read: reading the files anew for each sandbox would be a third of
//! the time that one takes. A look at each file says whether it has changed. Knows nothing of sandboxes.

use std::{fs, os::unix::fs::MetadataExt as _};

use crate::system_paths::SETTINGS;

/// What tells a file from itself with other contents: device, inode, times of the last changes, size.
type FileIdentity = (u64, u64, (i64, i64), (i64, i64), u64);

#[derive(Default)]
pub(super) struct SystemSettings(Vec<(FileIdentity, &'static str, Vec<u8>)>);

impl SystemSettings {
    /// Reads what has changed since the last time.
    pub(super) fn refresh(&mut self) {
        let mut before = std::mem::take(&mut self.0);
        for path in SETTINGS {
            let Ok(about) = fs::metadata(path) else { continue };
            let changed = (about.mtime(), about.mtime_nsec());
            let changed_about = (about.ctime(), about.ctime_nsec());
            let identity = (about.dev(), about.ino(), changed, changed_about, about.len());
            if let Some(kept) = before.iter().position(|kept| (kept.0, kept.1) == (identity, path)) {
                self.0.push(before.swap_remove(kept));
            } else if let Ok(contents) = fs::read(path) {
                self.0.push((identity, path, contents));
            }
        }
    }

    /// The files that there are, with their contents.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(_, path, contents)| (*path, contents.as_slice()))
    }
}
