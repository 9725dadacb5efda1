//! What a backup has, part by part, while hosts go on.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use wharf_files::regular_file;
use wharf_workspace::{BackupContent, BackupEntry, FilesLeftOut, WorkspaceError};

use super::{
    archive::ArchiveWriter,
    error::BackupError,
    list::{EntryList, LIST_FILE},
    manifest::{BackupManifest, BackupPart, LEFT_OUT, LeftOut, MANIFEST, STATE, never_in_it},
    staging::Staging,
};
use crate::{Configuration, added::AddedPlugins, backends, encryption, recorder::audit_directory};

/// A data directory, with what had to be taken at one moment.
pub(super) struct Collection<'c> {
    configuration: &'c Configuration,
    data: &'c Path,
    staging: Staging,
    manifest: BackupManifest,
    files: FilesLeftOut,
}

impl<'c> Collection<'c> {
    /// Takes state and plugins as they are now, and says what will be in the backup.
    pub(super) fn begin(
        configuration: &'c Configuration,
        data: &'c Path,
        without: &BTreeSet<BackupPart>,
        staging: Staging,
    ) -> Result<Self, BackupError> {
        let (mut contains, mut left_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut files = FilesLeftOut::default();
        let keys = encryption::look(configuration, data)?;
        if keys.at_rest.is_encrypted() {
            notes.push(
                "the master key of [encryption] is not in the backup, and state and recordings need it; what else is in \
                 the backup is in the clear"
                    .to_owned(),
            );
        }
        for part in BackupPart::ALL {
            if without.contains(&part) {
                left_out.push(LeftOut::new(part.name(), "left out as asked"));
                continue;
            }
            let is_there = match part {
                BackupPart::State if configuration.state.database_file.is_some() => {
                    left_out.push(LeftOut::new(
                        STATE,
                        "a database server has the state; back it up with the server's own means, such as pg_dump",
                    ));
                    false
                }
                BackupPart::State => {
                    let is_there = wharf_state::snapshot(&keys.state, &staging.path(STATE))?;
                    if !is_there {
                        left_out.push(LeftOut::new(STATE, "no plugin has kept anything yet"));
                    }
                    is_there
                }
                BackupPart::Plugins => match AddedPlugins::of(data).copy_to(&staging.path(part.name()))? {
                    None => false,
                    Some(copied) => {
                        if copied.is_of_cluster {
                            notes.push(
                                "plugins/ is a copy of what the database of the cluster has, which decides: \
                                 back up the database as well"
                                    .to_owned(),
                            );
                        }
                        copied.missing.into_iter().for_each(|name| files.add(Path::new(part.name()).join(name)));
                        true
                    }
                },
                BackupPart::Recordings if configuration.terminal.recording_directory().is_some() => {
                    left_out.push(LeftOut::new(
                        part.name(),
                        "the configuration has recordings elsewhere; copy that directory",
                    ));
                    false
                }
                BackupPart::Keyring => keys.at_rest.is_encrypted(),
                BackupPart::Workspaces | BackupPart::Audit | BackupPart::Recordings => data.join(part.name()).is_dir(),
            };
            if is_there {
                contains.push(part);
            }
        }
        left_out.extend(never_in_it());
        let manifest = BackupManifest::new(contains, left_out, notes);
        Ok(Self { configuration, data, staging, manifest, files })
    }

    pub(super) fn list(&self) -> io::Result<EntryList> {
        EntryList::make(&self.staging.path(LIST_FILE))
    }

    /// Writes everything.
    pub(super) fn write(&mut self, archive: &mut ArchiveWriter<'_>) -> Result<(), BackupError> {
        let manifest = serde_json::to_vec_pretty(&self.manifest).map_err(|error| BackupError::Write(error.into()))?;
        bytes(archive, MANIFEST, &manifest)?;
        for part in self.manifest.contains.clone() {
            match part {
                BackupPart::State => self.state(archive)?,
                BackupPart::Keyring => {
                    let path = self.data.join(part.name());
                    let opened = regular_file::open_itself(&path).map_err(BackupError::data(&path))?;
                    file(archive, Path::new(part.name()), opened, &path)?;
                }
                BackupPart::Plugins => {
                    let copied = self.staging.path(part.name());
                    directory(archive, part.name())?;
                    for (below, extension) in [("", "json"), ("components", "wasm"), ("receipts", "json")] {
                        let base = Path::new(part.name()).join(below);
                        if !below.is_empty() {
                            directory(archive, &base)?;
                        }
                        self.files(archive, &copied.join(below), &base, extension)?;
                    }
                }
                BackupPart::Workspaces => self.workspaces(archive)?,
                BackupPart::Audit => {
                    directory(archive, part.name())?;
                    self.files(archive, &audit_directory(self.data), Path::new(part.name()), "jsonl")?;
                }
                BackupPart::Recordings => {
                    directory(archive, part.name())?;
                    self.files(archive, &self.data.join(part.name()), Path::new(part.name()), "cast")?;
                }
            }
        }
        if self.files.count > 0 {
            let mut text = format!("{} files are not in this backup:\n", self.files.count);
            for path in &self.files.named {
                text.push_str(&format!("{}\n", path.as_os_str().as_encoded_bytes().escape_ascii()));
            }
            bytes(archive, LEFT_OUT, text.as_bytes())?;
        }
        Ok(())
    }

    /// What the backup says of itself, and the files that are not in it.
    pub(super) fn finish(self) -> (BackupManifest, FilesLeftOut) {
        (self.manifest, self.files)
    }

    fn state(&self, archive: &mut ArchiveWriter<'_>) -> Result<(), BackupError> {
        let path = self.staging.path(STATE);
        let unreadable = BackupError::data(&path);
        let snapshot = File::open(&path).map_err(unreadable)?;
        // Nobody else needs its name, and its room is free once it is written.
        #[cfg(unix)]
        fs::remove_file(&path).map_err(BackupError::data(&path))?;
        file(archive, Path::new(STATE), snapshot, &path)
    }

    fn workspaces(&mut self, archive: &mut ArchiveWriter<'_>) -> Result<(), BackupError> {
        let base = Path::new(BackupPart::Workspaces.name());
        directory(archive, base)?;
        let left_out = backends::workspaces(self.configuration, self.data).back_up(&mut |entry| {
            let at = base.join(entry.path);
            archive.add(entry.at(&at))
        });
        let left_out = left_out.map_err(|error| match error {
            WorkspaceError::Storage { source, .. } if archive.has_failed() => BackupError::Write(source),
            error => error.into(),
        })?;
        self.files.count += left_out.count - left_out.named.len() as u64;
        left_out.named.into_iter().for_each(|path| self.files.add(base.join(path)));
        Ok(())
    }

    /// The regular files of a directory whose names end so, each as long as it is when its turn
    /// comes: what hosts write behind that is not in the backup. No link is followed.
    fn files(
        &mut self,
        archive: &mut ArchiveWriter<'_>,
        from: &Path,
        base: &Path,
        extension: &str,
    ) -> Result<(), BackupError> {
        for name in names(from, extension).map_err(BackupError::data(from))? {
            let (path, at) = (from.join(&name), base.join(&name));
            match regular_file::open_itself(&path) {
                Ok(opened) => file(archive, &at, opened, &path)?,
                // A host has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => self.files.add(at),
            }
        }
        Ok(())
    }
}

/// In the order of their names, which is that of their time: a file of the audit names the one
/// before it, whose end is read first.
fn names(directory: &Path, extension: &str) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let is_shown = name.to_str().is_some_and(|name| !name.starts_with('.'));
        if is_shown && Path::new(&name).extension() == Some(OsStr::new(extension)) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn file(archive: &mut ArchiveWriter<'_>, at: &Path, opened: File, path: &Path) -> Result<(), BackupError> {
    let about = opened.metadata().map_err(BackupError::data(path))?;
    // A tar has seconds. Rounded up, a file of the audit never seems older than the one that
    // goes on from it.
    let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |since| (since + Duration::from_nanos(999_999_999)).as_secs());
    let size = about.len();
    let mut content = opened.take(size).chain(io::repeat(0)).take(size);
    let content = BackupContent::File(size, &mut content);
    archive.add(BackupEntry { path: at, mode: 0o600, changed, content }).map_err(|error| failed(archive, error, path))
}

fn bytes(archive: &mut ArchiveWriter<'_>, name: &str, mut content: &[u8]) -> Result<(), BackupError> {
    let content = BackupContent::File(content.len() as u64, &mut content);
    let entry = BackupEntry { path: Path::new(name), mode: 0o600, changed: 0, content };
    archive.add(entry).map_err(BackupError::Write)
}

fn directory(archive: &mut ArchiveWriter<'_>, path: impl AsRef<Path>) -> Result<(), BackupError> {
    let entry = BackupEntry { path: path.as_ref(), mode: 0o700, changed: 0, content: BackupContent::Directory };
    archive.add(entry).map_err(BackupError::Write)
}

fn failed(archive: &ArchiveWriter<'_>, error: io::Error, path: &Path) -> BackupError {
    match archive.has_failed() {
        true => BackupError::Write(error),
        false => BackupError::Data { path: PathBuf::from(path), source: error },
    }
}
