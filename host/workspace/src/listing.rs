//! The operator's side: lists workspaces, and ends them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use wharf_core::WorkspaceKey;

use crate::{
    DiskUsage, Volume, WorkspaceError, Workspaces, layout,
    lock::{LockError, WorkspaceLock},
    system::remove_tree,
};

/// The name of a workspace in the directory in which it is removed.
const REMOVED: &str = "removed";
/// A directory that is half done after so long belongs to a host that ended.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// One workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceSummary {
    /// Its tenant and session.
    pub key: WorkspaceKey,
    /// Its size.
    pub usage: DiskUsage,
    /// Its last use, to the minute.
    pub used: SystemTime,
}

/// All workspaces.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct WorkspaceListing {
    /// The readable ones, in the order of their last use, the latest first.
    pub workspaces: Vec<WorkspaceSummary>,
    /// The unreadable ones, with the reason.
    pub unreadable: Vec<(WorkspaceKey, WorkspaceError)>,
}

impl Workspaces {
    /// All workspaces. One that cannot be read hides no other.
    ///
    /// # Errors
    /// Where the directory of workspaces cannot be read.
    pub fn list(&self) -> Result<WorkspaceListing, WorkspaceError> {
        let WorkspaceListing { mut workspaces, mut unreadable } = WorkspaceListing::default();
        for (key, volume) in self.counted()? {
            let path = self.layout.path(&key);
            let read = || -> io::Result<_> { Ok((volume.measure()?.usage, layout::last_use(&path)?)) };
            match read() {
                Ok((usage, used)) => workspaces.push(WorkspaceSummary { key, usage, used }),
                // It has just been removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => unreadable.push((key, WorkspaceError::storage("read", path)(error))),
            }
        }
        workspaces.sort_by(|one, other| other.used.cmp(&one.used).then_with(|| one.key.cmp(&other.key)));
        unreadable.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(WorkspaceListing { workspaces, unreadable })
    }

    /// Counts the workspaces on disk, with their sizes, for the limits by
    /// tenant and host. Blocks, because it measures workspaces that were not
    /// measured before.
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
        self.census.all(&self.layout).map_err(WorkspaceError::storage("read", self.layout.directory()))
    }

    /// Removes a workspace with all its files. Returns whether there was one.
    ///
    /// # Errors
    /// Where something works in it, in this host or another one, or the disk refuses.
    pub fn remove(&self, key: &WorkspaceKey) -> Result<bool, WorkspaceError> {
        let path = self.layout.path(key);
        match self.take_away(key, &path, || true) {
            Ok(Some(aside)) => remove_tree(&aside).map(|()| true).map_err(WorkspaceError::storage("remove", aside)),
            Ok(None) | Err(LockError::Gone) => Ok(false),
            Err(LockError::InUse) => Err(WorkspaceError::InUse),
            Err(LockError::System(error)) => Err(WorkspaceError::storage("remove", path)(error)),
        }
    }

    /// Removes expired workspaces, except for those in which something stays or that another
    /// host uses, and directories that were left half done. Returns the number of expired ones.
    ///
    /// # Errors
    /// Where one cannot be removed; the others are removed all the same.
    pub fn sweep(&self, now: SystemTime) -> Result<usize, WorkspaceError> {
        let older = |time: SystemTime, age| now.duration_since(time).is_ok_and(|past| past >= age);
        let (mut swept, mut failure) = (0, None);
        let paths = self.layout.paths().map_err(WorkspaceError::storage("read", self.layout.directory()))?;
        for path in paths {
            let removed = if layout::is_half_done(&path) {
                let made = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
                if made.is_ok_and(|made| older(made, ABANDONED)) {
                    remove_tree(&path).map(|()| false)
                } else {
                    continue;
                }
            } else {
                let expired = || {
                    let old = |expiry| layout::last_use(&path).is_ok_and(|used| older(used, expiry));
                    self.options.expiry.is_some_and(old)
                };
                let Some(key) = layout::owner(&path).filter(|_| expired()) else { continue };
                // A call may have used it since.
                match self.take_away(&key, &path, expired) {
                    Ok(Some(aside)) => remove_tree(&aside).map(|()| true),
                    Ok(None) | Err(LockError::Gone | LockError::InUse) => continue,
                    Err(LockError::System(error)) => Err(error),
                }
            };
            match removed {
                Ok(expired) => swept += usize::from(expired),
                Err(error) => failure = Some(WorkspaceError::storage("remove", path)(error)),
            }
        }
        failure.map_or(Ok(swept), Err)
    }

    /// Moves a workspace aside, where no host uses it and it still `may_go`: a call finds it
    /// whole or not at all. Returns its new path.
    fn take_away(
        &self,
        key: &WorkspaceKey,
        path: &Path,
        may_go: impl FnOnce() -> bool,
    ) -> Result<Option<PathBuf>, LockError> {
        let _leaving = self.leaving.write();
        if !fs::symlink_metadata(path)?.is_dir() || !may_go() {
            return Ok(None);
        }
        if !self.in_use.let_go(key) {
            return Err(LockError::InUse);
        }
        let exclusive = WorkspaceLock::exclusive(path)?;
        let aside = self.layout.aside()?;
        // Below it, since Windows replaces no directory by another one. It also moves no directory in
        // which a file is open: so the lock has to go first, and a host that takes it in between
        // keeps the workspace where it is.
        let exclusive = (!cfg!(windows)).then_some(exclusive);
        fs::rename(path, aside.path().join(REMOVED)).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied if cfg!(windows) => LockError::InUse,
            _ => error.into(),
        })?;
        drop(exclusive);
        self.census.forget(path);
        Ok(Some(aside.keep()))
    }
}
