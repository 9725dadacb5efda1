//! Backups: the data directory of hosts as one archive, written while they serve, and a data
//! directory made of one.
//!
//! Owns what is in a backup and how it is verified. The snapshot of the state is the work of
//! `wharf-state`, walking and making workspaces that of `wharf-workspace`. It knows no command.

mod archive;
mod collect;
mod error;
mod list;
mod manifest;
mod restore;
mod staging;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{Configuration, paths};
use archive::ArchiveWriter;
use collect::Collection;
use staging::Staging;

pub use error::{BackupError, RestoreError};
pub use manifest::{BackupManifest, BackupPart, LeftOut};
pub use restore::{RestoreReport, restore};

/// The beginning of the name of the directory in which a backup is prepared, below the data
/// directory.
const STAGING: &str = ".backup-";

/// What a backup has.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackupReport {
    /// What it says of itself.
    #[serde(flatten)]
    pub manifest: BackupManifest,
    /// Files and directories.
    pub entries: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// How many files were left out: the host may not read them, they are no files, or nearly
    /// all holes.
    pub files_left_out: u64,
    /// The first 1,000 of them, below the data directory.
    pub files_left_out_named: Vec<String>,
}

/// Writes a backup of the data directory `data` to `out`, without some parts. Hosts may serve on
/// the directory meanwhile: all that they acknowledged before this was called is in it.
/// `progress` hears how many bytes of files were read. Blocks; an `out` that ends early may hold
/// half a backup, which no restore takes.
///
/// # Errors
/// See [`BackupError`].
pub fn back_up(
    configuration: &Configuration,
    data: &Path,
    without: &BTreeSet<BackupPart>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<BackupReport, BackupError> {
    let data = &paths::absolute(data).unwrap_or_else(|_| data.to_owned());
    if !data.is_dir() {
        return Err(BackupError::Absent { path: data.clone() });
    }
    Staging::sweep(data, STAGING);
    let staging = Staging::make(data, STAGING).map_err(BackupError::data(data))?;
    let mut collection = Collection::begin(configuration, data, without, staging)?;
    let list = collection.list().map_err(BackupError::data(data))?;
    let mut archive = ArchiveWriter::new(out, list, progress).map_err(BackupError::Write)?;
    collection.write(&mut archive)?;
    let (totals, archive_bytes) = archive.finish().map_err(BackupError::Write)?;
    let (manifest, files) = collection.finish();
    let shown = |path: PathBuf| path.as_os_str().as_encoded_bytes().escape_ascii().to_string();
    Ok(BackupReport {
        manifest,
        entries: totals.entries,
        bytes: totals.bytes,
        archive_bytes,
        files_left_out: files.count,
        files_left_out_named: files.named.into_iter().map(shown).collect(),
    })
}
