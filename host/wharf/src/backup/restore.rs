//! A data directory made of a backup: unpacked aside, verified as a whole, then put in place.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use serde::Serialize;
use wharf_files::private_files;
use wharf_state::StatePlace;
use wharf_workspace::{BackupContent, BackupEntry, WorkspaceRefusal, WorkspaceRestore};

use super::{
    archive::{self, Totals},
    error::RestoreError,
    list::{EntryList, LIST_FILE},
    manifest::{AnyManifest, BackupManifest, BackupPart, FORMAT, MANIFEST, MAX_MANIFEST_BYTES, Place, STATE},
    staging::Staging,
};
use crate::{Configuration, encryption, paths};

/// The beginning of the name of the directory in which a backup is unpacked.
const STAGING: &str = ".wharf-restore-";
/// What becomes the data directory, below it.
const DATA: &str = "data";
/// What an empty file system has.
const LOST_AND_FOUND: &str = "lost+found";

/// What was restored.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RestoreReport {
    /// What the backup says of itself.
    #[serde(flatten)]
    pub manifest: BackupManifest,
    /// Files and directories of the backup.
    pub entries: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Sessions that have a workspace.
    pub workspaces: u64,
    /// Whether each workspace belongs to a user of its own, as a host of root has it; else all
    /// files belong to the user who restored them.
    pub session_users: bool,
}

/// Makes the data directory `data` of the backup `from`. Where that is encrypted, the configuration names the master key
/// under which it was made. The directory must not be there, or be
/// empty. It gets its content once the backup is verified as a whole; before that, the backup is
/// unpacked into a private directory beside it, or in it where it is there. `progress` hears how
/// many bytes of files came. Blocks.
///
/// # Errors
/// See [`RestoreError`]; nothing was restored then.
pub fn restore(
    configuration: &Configuration,
    data: &Path,
    from: &mut dyn Read,
    progress: &mut dyn FnMut(u64),
) -> Result<RestoreReport, RestoreError> {
    let data = &paths::absolute(data).unwrap_or_else(|_| data.to_owned());
    let target = Target::of(data)?;
    Staging::sweep(target.room(), STAGING);
    target.check()?;
    let staging = Staging::make(target.room(), STAGING).map_err(RestoreError::storage(target.room()))?;
    let directory = staging.path(DATA);
    private_files::make_new_directory(&directory).map_err(RestoreError::storage(&directory))?;
    let list = EntryList::make(&staging.path(LIST_FILE)).map_err(RestoreError::list)?;
    let mut unpacking = Unpacking { directory: &directory, manifest: None, workspaces: None };
    let totals = archive::read(from, list, progress, &mut |place, entry| unpacking.add(place, entry))?;
    let report = unpacking.finish(totals)?;
    if report.manifest.contains.contains(&BackupPart::State) {
        let place = match report.manifest.contains.contains(&BackupPart::Keyring) {
            true => encryption::look(configuration, &directory)?.state,
            // Where the configuration names a key, hosts refuse it until it is encrypted.
            false => StatePlace::in_clear(&directory),
        };
        wharf_state::take_over_snapshot(&place)?;
    }
    synchronise(&directory).map_err(RestoreError::storage(&directory))?;
    target.take(&directory)?;
    Ok(report)
}

/// Where the restored directory goes.
enum Target<'t> {
    /// It is not there: a rename makes it. With the nearest directory above it that is.
    New(&'t Path, &'t Path),
    /// It is there and empty.
    Empty(&'t Path),
}

impl<'t> Target<'t> {
    fn of(data: &'t Path) -> Result<Self, RestoreError> {
        if data.is_dir() {
            return Ok(Self::Empty(data));
        }
        if data.symlink_metadata().is_ok() {
            return Err(RestoreError::Occupied { path: data.to_owned() });
        }
        let above = data.ancestors().skip(1).find(|path| path.is_dir());
        let absent = || RestoreError::storage(data)(io::ErrorKind::NotFound.into());
        above.map(|above| Self::New(data, above)).ok_or_else(absent)
    }

    /// The directory of the same file system that has room for what is unpacked.
    fn room(&self) -> &'t Path {
        match self {
            Self::New(_, above) => above,
            Self::Empty(data) => data,
        }
    }

    fn check(&self) -> Result<(), RestoreError> {
        let Self::Empty(data) = self else { return Ok(()) };
        let entries = fs::read_dir(data).map_err(RestoreError::storage(data))?;
        let is_content = |name: &OsStr| name != LOST_AND_FOUND && !Staging::is_one(name, STAGING);
        for entry in entries {
            if is_content(&entry.map_err(RestoreError::storage(data))?.file_name()) {
                return Err(RestoreError::Occupied { path: data.to_path_buf() });
            }
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let owner = fs::metadata(data).map_err(RestoreError::storage(data))?.uid();
            if owner != rustix::process::geteuid().as_raw() {
                return Err(RestoreError::Owner { path: data.to_path_buf(), owner });
            }
        }
        Ok(())
    }

    /// Gives it the content.
    fn take(&self, content: &Path) -> Result<(), RestoreError> {
        match self {
            Self::New(data, above) => {
                let parent = data.parent().unwrap_or(above);
                private_files::make_directory(parent).map_err(RestoreError::storage(parent))?;
                fs::rename(content, data).map_err(RestoreError::storage(data))?;
                durable(parent)
            }
            Self::Empty(data) => {
                self.check()?;
                let mut moved = Vec::new();
                let moving = names(content).and_then(|names| {
                    for name in names {
                        let (from, to) = (content.join(&name), data.join(&name));
                        fs::rename(&from, &to)?;
                        moved.push((from, to));
                    }
                    Ok(())
                });
                if let Err(error) = moving {
                    for (from, to) in moved {
                        // The first error is the one that counts.
                        let _ = fs::rename(to, from);
                    }
                    return Err(RestoreError::storage(data)(error));
                }
                durable(data)
            }
        }
    }
}

/// What is in a directory, the state at the end: a directory that has it has everything.
fn names(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(|name| name == STATE);
    Ok(names)
}

/// Has everything that was unpacked on disk before it gets its name.
fn synchronise(directory: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(directory)?)?;
    #[cfg(not(target_os = "linux"))]
    if let Ok(state) = File::open(directory.join(STATE)) {
        state.sync_all()?;
    }
    Ok(())
}

/// A name is durable once its directory is. What was restored is there, whatever the disk says.
fn durable(directory: &Path) -> Result<(), RestoreError> {
    if let Err(error) = private_files::synchronise_names(directory) {
        tracing::warn!("{} is restored, and the disk may not have it yet: {error}", directory.display());
    }
    Ok(())
}

/// What has been unpacked.
struct Unpacking<'u> {
    directory: &'u Path,
    manifest: Option<BackupManifest>,
    workspaces: Option<WorkspaceRestore>,
}

impl Unpacking<'_> {
    fn add(&mut self, place: Place<'_>, entry: BackupEntry<'_>) -> Result<(), RestoreError> {
        let path = entry.path;
        let refused = |problem| RestoreError::refused(path, problem);
        let at = self.directory.join(path);
        let part = match place {
            Place::Manifest => {
                self.manifest = Some(manifest(entry.content)?);
                return Ok(());
            }
            // Both were of use where the backup was made.
            Place::LeftOut | Place::List => return Ok(()),
            Place::Directory(part) | Place::File(part) => part,
            Place::Workspace(_) => BackupPart::Workspaces,
        };
        if !self.manifest.as_ref().is_some_and(|manifest| manifest.contains.contains(&part)) {
            return Err(refused("the backup says that it does not have this part"));
        }
        if let Place::Workspace(below) = place {
            let Some(workspaces) = &mut self.workspaces else {
                return Err(refused("the directory of workspaces does not come before it"));
            };
            return workspaces.add(entry.at(below)).map_err(|refusal| unusable(refusal, path, &at));
        }
        match (place, entry.content) {
            (Place::Directory(BackupPart::Workspaces), BackupContent::Directory) => {
                self.workspaces = Some(WorkspaceRestore::new(&at).map_err(|error| twice(error, path, &at))?);
                Ok(())
            }
            (Place::Directory(_), BackupContent::Directory) => {
                private_files::make_new_directory(&at).map_err(|error| twice(error, path, &at))
            }
            (Place::File(_), BackupContent::File(_, content)) => {
                // No link is above it: only workspaces have any.
                let opened = private_files::options().write(true).create_new(true).open(&at);
                let mut file = opened.map_err(|error| twice(error, path, &at))?;
                io::copy(content, &mut file).map_err(RestoreError::storage(&at))?;
                if let Some(changed) = UNIX_EPOCH.checked_add(Duration::from_secs(entry.changed)) {
                    // A time that the system does not have changes nothing of the file.
                    let _ = file.set_modified(changed);
                }
                Ok(())
            }
            _ => Err(refused("it is neither the file nor the directory that belongs there")),
        }
    }

    fn finish(self, totals: Totals) -> Result<RestoreReport, RestoreError> {
        let path = Path::new(BackupPart::Workspaces.name());
        let workspaces = self.workspaces.map(WorkspaceRestore::finish).transpose();
        let workspaces = workspaces.map_err(|refusal| unusable(refusal, path, self.directory))?;
        let manifest = self.manifest.ok_or(RestoreError::Foreign)?;
        if let Some(part) = manifest.contains.iter().find(|part| !self.directory.join(part.name()).exists()) {
            return Err(RestoreError::refused(Path::new(part.name()), "the backup says that it has it, and has not"));
        }
        Ok(RestoreReport {
            manifest,
            entries: totals.entries,
            bytes: totals.bytes,
            workspaces: workspaces.unwrap_or_default(),
            session_users: WorkspaceRestore::has_session_users(),
        })
    }
}

fn manifest(content: BackupContent<'_>) -> Result<BackupManifest, RestoreError> {
    let BackupContent::File(_, content) = content else { return Err(RestoreError::Foreign) };
    let mut text = Vec::new();
    content.take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut text).map_err(RestoreError::damaged)?;
    if text.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(RestoreError::refused(Path::new(MANIFEST), "it is too long"));
    }
    let any: AnyManifest = serde_json::from_slice(&text).map_err(|_| RestoreError::Foreign)?;
    if any.format > FORMAT {
        let wharf = wharf_core::text::line(&any.wharf, 64);
        return Err(RestoreError::Newer { found: any.format, wharf });
    }
    serde_json::from_slice(&text).map_err(|_| RestoreError::Foreign)
}

fn twice(error: io::Error, path: &Path, at: &Path) -> RestoreError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => RestoreError::refused(path, "it is there twice"),
        io::ErrorKind::NotFound => RestoreError::refused(path, "no directory of the backup is above it"),
        _ => RestoreError::storage(at)(error),
    }
}

fn unusable(refusal: WorkspaceRefusal, path: &Path, at: &Path) -> RestoreError {
    match refusal {
        WorkspaceRefusal::System(error) => RestoreError::storage(at)(error),
        WorkspaceRefusal::Foreign(problem) => RestoreError::refused(path, problem),
        _ => RestoreError::refused(path, "it is part of no workspace"),
    }
}
