//! The operator's side: which workspaces there are, and their end.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
    time::{Duration, SystemTime},
};

use wharf_core::WorkspaceKey;

use crate::{
    Usage, Volume, WorkspaceError, Workspaces,
    census::owner,
    hold::{Hold, NotHeld},
    removal::remove_tree,
    workspaces::HALF_DONE,
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

/// All workspaces.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read, the one that was used last first.
    pub workspaces: Vec<Listed>,
    /// Those that cannot, and why.
    pub unreadable: Vec<(WorkspaceKey, WorkspaceError)>,
}

impl Workspaces {
    /// All workspaces. One that cannot be read hides no other.
    ///
    /// # Errors
    /// Where it cannot be read which there are.
    pub fn list(&self) -> Result<Listing, WorkspaceError> {
        let Listing { mut workspaces, mut unreadable } = Listing::default();
        for (key, volume) in self.counted()? {
            let place = self.place(&key);
            let read = || Ok(Listed { key: key.clone(), usage: volume.measure()?.usage, used: Self::used(&place)? });
            match read() {
                Ok(one) => workspaces.push(one),
                // It has just been removed.
                Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => {}
                Err(error) => unreadable.push((key, WorkspaceError::storage("read", place)(error))),
            }
        }
        workspaces.sort_by(|one, other| other.used.cmp(&one.used).then_with(|| one.key.cmp(&other.key)));
        unreadable.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Listing { workspaces, unreadable })
    }

    /// Counts the workspaces that are on disk, with what they hold: what the limits by
    /// tenant and host know from then on. Blocks, for as long as reading what was not
    /// measured before takes.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn count(&self) -> Result<(), WorkspaceError> {
        for (key, volume) in self.counted()? {
            if let Err(error) = volume.measure_first() {
                tracing::warn!(session = %key.session, %error, "a workspace cannot be measured");
            }
        }
        Ok(())
    }

    fn counted(&self) -> Result<Vec<(WorkspaceKey, Arc<Volume>)>, WorkspaceError> {
        self.census.all(&self.directory).map_err(WorkspaceError::storage("read", self.directory.clone()))
    }

    /// Removes a workspace with all its files. Says whether there was one.
    ///
    /// # Errors
    /// Where something works in it, in this host or another one, or the disk refuses.
    pub fn remove(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let place = self.place(key);
        match self.take_away(key, &place, || true) {
            Ok(Some(aside)) => remove_tree(&aside).map(|()| true).map_err(WorkspaceError::storage("remove", aside)),
            Ok(None) | Err(NotHeld::Gone) => Ok(false),
            Err(NotHeld::InUse) => Err(WorkspaceError::InUse),
            Err(NotHeld::System(error)) => Err(WorkspaceError::storage("remove", place)(error)),
        }
    }

    /// Removes the workspaces that were last used longer ago than they are
    /// kept, except for those that are `busy` or that another host uses, and what was left
    /// half done. Returns how many expired.
    ///
    /// # Errors
    /// Where one cannot be removed; the others are removed all the same.
    pub fn sweep(&self, now: SystemTime, busy: impl Fn(&WorkspaceKey) -> bool) -> Result<usize, WorkspaceError> {
        let older = |time: SystemTime, age| now.duration_since(time).is_ok_and(|past| past >= age);
        let (mut swept, mut failure) = (0, None);
        for place in self.places()? {
            let half_done = place.file_name().is_some_and(|name| name.to_string_lossy().starts_with(HALF_DONE));
            let removed = if half_done {
                let made = fs::symlink_metadata(&place).and_then(|metadata| metadata.modified());
                if made.is_ok_and(|made| older(made, ABANDONED)) {
                    remove_tree(&place).map(|()| false)
                } else {
                    continue;
                }
            } else {
                let expired = || {
                    let old = |expiry| Self::used(&place).is_ok_and(|used| older(used, expiry));
                    self.settings.expiry.is_some_and(old)
                };
                let Some(key) = owner(&place).filter(|key| !busy(key) && expired()) else { continue };
                // Somebody may have come back to it.
                match self.take_away(&key, &place, expired) {
                    Ok(Some(aside)) => remove_tree(&aside).map(|()| true),
                    Ok(None) | Err(NotHeld::Gone | NotHeld::InUse) => continue,
                    Err(NotHeld::System(error)) => Err(error),
                }
            };
            match removed {
                Ok(expired) => swept += usize::from(expired),
                Err(error) => failure = Some(WorkspaceError::storage("remove", place)(error)),
            }
        }
        failure.map_or(Ok(swept), Err)
    }

    fn places(&self) -> Result<Vec<PathBuf>, WorkspaceError> {
        let failed = |error| WorkspaceError::storage("read", self.directory.clone())(error);
        match fs::read_dir(&self.directory) {
            Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Takes it out of sight, where nobody uses it and it still `may_go`: a call finds it
    /// whole or not at all. Returns where it is then.
    fn take_away(
        &self,
        key: &WorkspaceKey,
        place: &Path,
        may_go: impl FnOnce() -> bool,
    ) -> Result<Option<PathBuf>, NotHeld> {
        let _leaving = self.leaving.write().unwrap_or_else(PoisonError::into_inner);
        if !fs::symlink_metadata(place)?.is_dir() || !may_go() {
            return Ok(None);
        }
        if !self.let_go(key) {
            return Err(NotHeld::InUse);
        }
        let _alone = Hold::alone(place)?;
        let aside = tempfile::Builder::new().prefix(HALF_DONE).tempdir_in(&self.directory)?;
        fs::rename(place, aside.path())?;
        self.census.forget(place);
        Ok(Some(aside.keep()))
    }
}
