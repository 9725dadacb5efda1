//! The files of lines: their names, and which of them go.
//!
//! A file with a group in its name is one party's alone; parties share the others.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chrono::NaiveDateTime;
use wharf_core::{Digest, audit::AuditAddresses};
use wharf_files::regular_file;

use crate::line::Party;

/// The extension of a file.
pub(crate) const EXTENSION: &str = "jsonl";
/// The beginning of a name: the time at which the file was begun.
pub(crate) const NAME_TIME: &str = "%Y%m%dT%H%M%S";
/// The parts of a shared file, of which a party may fill one.
pub(crate) const PARTS: u64 = 8;
/// Digits of a digest that name a group.
const GROUP_DIGITS: usize = 16;

/// How long and how many files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFileOptions {
    /// Bytes of a full file.
    pub rotate_bytes: u64,
    /// Number of shared files; a file that a host writes never counts as
    /// one too many. Files of single tenants share the bytes of this many
    /// full files, less those of the shared ones, and the tenant with
    /// most bytes loses its oldest files first.
    pub keep_files: usize,
    /// How long a file is kept after its last line.
    pub keep: Duration,
    /// How much of the addresses of requests lines have.
    pub addresses: AuditAddresses,
}

/// A file in the directory.
#[derive(Debug, Clone)]
pub(crate) struct AuditFile {
    pub(crate) path: PathBuf,
    pub(crate) modified: SystemTime,
    pub(crate) bytes: u64,
}

/// The files of a directory, oldest first; none for an absent directory.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<AuditFile>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        // `metadata` of an entry follows no link.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
            listed.push(AuditFile { path, modified: metadata.modified()?, bytes: metadata.len() });
        }
    }
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(listed)
}

/// The name of a file, as its own first line has it.
pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// The group of a party's own files.
pub(crate) fn group(party: &Party) -> String {
    let named = match party {
        Party::Tenant(tenant) => format!("tenant {tenant}"),
        Party::Strangers => "strangers".to_owned(),
        Party::Operator => "operator".to_owned(),
    };
    let digest = Digest::of(named.as_bytes()).to_string();
    digest.rsplit(':').next().unwrap_or_default().chars().take(GROUP_DIGITS).collect()
}

/// The group of a file; none for a shared file.
pub(crate) fn group_of(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.split_once('.').map(|(_, group)| group)
}

/// The time at which the file was begun, by its name.
pub(crate) fn begun(path: &Path) -> Option<SystemTime> {
    let (time, _) = path.file_stem()?.to_str()?.split_once('-')?;
    Some(NaiveDateTime::parse_from_str(time, NAME_TIME).ok()?.and_utc().into())
}

/// Removes files beyond the limits of number and age that no host writes, and calls `gone` with the
/// name of each. Shared files make room for shared files alone.
pub(crate) fn prune(
    directory: &Path,
    options: &AuditFileOptions,
    now: SystemTime,
    mut gone: impl FnMut(&str),
) -> io::Result<()> {
    let mut remove = |file: &AuditFile| -> io::Result<bool> {
        let removed = remove(file)?;
        if removed {
            gone(name_of(&file.path));
        }
        Ok(removed)
    };
    let mut listed = list(directory)?;
    listed.sort_by_key(|file| std::cmp::Reverse(file.modified));
    let (own, shared): (Vec<_>, Vec<_>) = listed.into_iter().partition(|file| group_of(&file.path).is_some());
    let is_old = |file: &AuditFile| now.duration_since(file.modified).is_ok_and(|age| age > options.keep);
    let mut left = 0;
    for (position, file) in shared.iter().enumerate() {
        let too_many = is_old(file) || position >= options.keep_files;
        if !(too_many && remove(file)?) {
            left += file.bytes;
        }
    }
    let mut groups: HashMap<&str, Vec<&AuditFile>> = HashMap::new();
    for file in &own {
        if !(is_old(file) && remove(file)?) {
            groups.entry(group_of(&file.path).unwrap_or_default()).or_default().push(file);
        }
    }
    let most = options.rotate_bytes.saturating_mul(options.keep_files as u64);
    // Room for one file that is being written and a full one beside it: a party that has
    // just begun another file keeps its last lines.
    let most = most.saturating_sub(left).max(options.rotate_bytes.saturating_mul(2));
    let bytes = |files: &[&AuditFile]| files.iter().map(|file| file.bytes).sum::<u64>();
    let mut all = groups.values().map(|files| bytes(files)).sum::<u64>();
    while all > most {
        // The oldest file of the party with most bytes.
        let Some(files) = groups.values_mut().max_by_key(|files| bytes(files)) else { return Ok(()) };
        let Some(oldest) = files.pop() else { return Ok(()) };
        remove(oldest)?;
        all -= oldest.bytes;
    }
    Ok(())
}

/// Removes a file that no host writes; whether it is gone.
fn remove(file: &AuditFile) -> io::Result<bool> {
    // Another host may have removed it.
    let Ok(held) = regular_file::open_itself(&file.path) else { return Ok(true) };
    if held.try_lock().is_err() {
        return Ok(false);
    }
    match fs::remove_file(&file.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}
