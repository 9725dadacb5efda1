//! What is on disk of terminals, so that the next host finds it.
//!
//! ```text
//! DIRECTORY/lock                 held while a host looks for what others left
//! DIRECTORY/HOST/lock            held while that host lives
//! DIRECTORY/HOST/ID/record.json  what the terminal is; replaced as a whole
//! DIRECTORY/HOST/ID/text         the end of what it printed; likewise
//! ```
//!
//! A record is removed when its terminal ends: a record that is found was lost. It
//! survives the host, not the machine: nothing waits for the disk. Never knows
//! how many lost terminals are kept, nor for how long.

mod record;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use wharf_core::handle::Handle;
use wharf_encryption::AtRest;
use wharf_files::{
    host_directory::{HostDirectory, LOCK},
    private_files,
};

use crate::TerminalId;
use record::KEPT_TEXT_BYTES;

pub(super) use record::TerminalRecord;

const RECORD: &str = "record.json";
const TEXT: &str = "text";
/// A record that is larger was not written here.
const MAX_RECORD_BYTES: u64 = 256 << 10;

/// What this host writes of its terminals.
#[derive(Debug)]
pub(super) struct TerminalJournal {
    directory: HostDirectory,
    at_rest: AtRest,
}

/// What an earlier host left of a terminal.
pub(super) struct RecoveredTerminal {
    pub(super) record: TerminalRecord,
    pub(super) text: String,
    pub(super) files: PathBuf,
}

impl RecoveredTerminal {
    /// Removes its files: nobody keeps it.
    pub(super) fn remove_files(&self) {
        remove(&self.files);
    }
}

impl TerminalJournal {
    /// Makes a home below `root`, and moves everything there that hosts left
    /// which are gone.
    pub(super) fn open(root: &Path, at_rest: &AtRest) -> io::Result<(Self, Vec<RecoveredTerminal>)> {
        let mut found = Vec::new();
        let directory = HostDirectory::open(root, &Handle::random()?.to_string(), |abandoned, home| {
            found.extend(adopt(abandoned, home, at_rest)?);
            Ok(())
        })?;
        Ok((Self { directory, at_rest: at_rest.clone() }, found))
    }

    fn of(&self, id: TerminalId) -> PathBuf {
        self.directory.path().join(id.to_string())
    }

    /// Writes what is known of a terminal.
    pub(super) fn save(&self, record: &TerminalRecord, text: &str) -> io::Result<()> {
        let files = self.of(record.id);
        private_files::make_directory(&files)?;
        self.at_rest.replace(&files.join(TEXT), text.as_bytes())?;
        self.at_rest.replace(&files.join(RECORD), &serde_json::to_vec(record)?)
    }

    /// Removes what is known of one that has ended.
    pub(super) fn forget(&self, id: TerminalId) {
        remove(&self.of(id));
    }
}

impl Drop for TerminalJournal {
    fn drop(&mut self) {
        // Nothing is left in it where all terminals ended; else it is the next
        // host's to find.
        if fs::read_dir(self.directory.path())
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK)))
        {
            remove(self.directory.path());
        }
    }
}

/// Removes the files of one terminal.
pub(super) fn remove(files: &Path) {
    match fs::remove_dir_all(files) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "the record of a terminal cannot be removed");
        }
        _ => {}
    }
}

/// Takes over what an abandoned home holds, and removes the home.
fn adopt(abandoned: &Path, home: &Path, at_rest: &AtRest) -> io::Result<Vec<RecoveredTerminal>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(abandoned)? {
        let entry = entry?;
        let from = entry.path();
        // What is no terminal stays behind and is removed with the home.
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let Some(record) = read(&from.join(RECORD), MAX_RECORD_BYTES, at_rest) else { continue };
        let Ok(record) = serde_json::from_slice::<TerminalRecord>(&record) else { continue };
        let text = read(&from.join(TEXT), KEPT_TEXT_BYTES as u64, at_rest).unwrap_or_default();
        let Ok(text) = String::from_utf8(text) else { continue };
        let files = home.join(record.id.to_string());
        fs::rename(&from, &files)?;
        found.push(RecoveredTerminal { record, text, files });
    }
    fs::remove_dir_all(abandoned)?;
    Ok(found)
}

/// What a file has; nothing where there is none, or one that cannot be read.
fn read(path: &Path, most: u64, at_rest: &AtRest) -> Option<Vec<u8>> {
    let read = at_rest.read(path, most);
    let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let tell = |error: &io::Error| tracing::warn!(%error, "what is kept of a lost terminal cannot be read");
    read.inspect_err(|error| {
        if !is_absent(error) {
            tell(error)
        }
    })
    .ok()
}
