//! The operator's side: which workspaces there are, and their end.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use wharf_core::WorkspaceKey;

use crate::{
    Usage, WorkspaceError, Workspaces,
    workspaces::{HALF_DONE, SESSION, Session},
};

/// What was begun so long ago and is not done will never be.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// One workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Whose it is.
    pub key: WorkspaceKey,
    /// What it holds.
    pub usage: Usage,
    /// When it was last used, to the minute.
    pub used: SystemTime,
}

impl Workspaces {
    /// All workspaces, the one that was used last first.
    ///
    /// # Errors
    /// Where one cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, WorkspaceError> {
        let mut listed = Vec::new();
        for place in self.places()? {
            let Some(key) = owner(&place) else { continue };
            let read = || Ok(Listed { key, usage: self.measure(&place)?, used: Self::used(&place)? });
            match read() {
                Ok(one) => listed.push(one),
                // It has just been removed.
                Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => {}
                Err(error) => return Err(WorkspaceError::storage("read", place)(error)),
            }
        }
        listed.sort_by(|one, other| other.used.cmp(&one.used).then_with(|| one.key.cmp(&other.key)));
        Ok(listed)
    }

    /// Removes a workspace with all its files. Says whether there was one.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn remove(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let place = self.place(key);
        match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(WorkspaceError::storage("remove", place)(error)),
            Ok(_) => self.clear_away(&place).map(|()| true).map_err(WorkspaceError::storage("remove", place)),
        }
    }

    /// Removes the workspaces that were last used longer ago than they are
    /// kept, except for those that are `busy`, and what was left half done.
    /// Returns how many expired.
    ///
    /// # Errors
    /// Where one cannot be removed; the others are removed all the same.
    pub fn sweep(&self, now: SystemTime, busy: impl Fn(&WorkspaceKey) -> bool) -> Result<usize, WorkspaceError> {
        let older = |time: SystemTime, age| now.duration_since(time).is_ok_and(|past| past >= age);
        let (mut swept, mut failure) = (0, None);
        for place in self.places()? {
            let half_done = place.file_name().is_some_and(|name| name.to_string_lossy().starts_with(HALF_DONE));
            let expired = if half_done {
                fs::metadata(&place).and_then(|metadata| metadata.modified()).is_ok_and(|made| older(made, ABANDONED))
            } else {
                let old = |expiry| Self::used(&place).is_ok_and(|used| older(used, expiry));
                self.settings.expiry.is_some_and(old) && owner(&place).is_some_and(|key| !busy(&key))
            };
            if !expired {
                continue;
            }
            match self.clear_away(&place) {
                Ok(()) => swept += usize::from(!half_done),
                Err(error) => failure = Some(WorkspaceError::storage("remove", place)(error)),
            }
        }
        failure.map_or(Ok(swept), Err)
    }

    fn places(&self) -> Result<Vec<std::path::PathBuf>, WorkspaceError> {
        let failed = |error| WorkspaceError::storage("read", self.directory.clone())(error);
        match fs::read_dir(&self.directory) {
            Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Takes it out of sight first: a call finds it whole or not at all.
    fn clear_away(&self, place: &Path) -> io::Result<()> {
        let aside = tempfile::Builder::new().prefix(HALF_DONE).tempdir_in(&self.directory)?;
        fs::rename(place, aside.path())?;
        let aside = aside.keep();
        // A guest may have closed directories to their owner, which is itself.
        if fs::remove_dir_all(&aside).is_err() {
            open_all(&aside)?;
            fs::remove_dir_all(&aside)?;
        }
        Ok(())
    }
}

fn owner(place: &Path) -> Option<WorkspaceKey> {
    let session: Session = serde_json::from_slice(&fs::read(place.join(SESSION)).ok()?).ok()?;
    Some(WorkspaceKey::restored(session.tenant, session.session))
}

/// Makes every directory below one that the host owns readable to it. Nobody
/// else changes them any more: what ran there has ended.
fn open_all(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut next = vec![directory.to_owned()];
    while let Some(directory) = next.pop() {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                next.push(entry.path());
            }
        }
    }
    Ok(())
}
