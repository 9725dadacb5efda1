//! The lock of a workspace among hosts: on a file beside the directories of guests.
//!
//! A host holds the lock, shared with other hosts, while it uses the workspace; a host that
//! removes the workspace needs it exclusively.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

use wharf_files::private_files;

use crate::system::is_at;

const LOCK: &str = "lock";
/// Another host takes a workspace away within a few system calls.
const ATTEMPTS: usize = 8;

/// The right to use a workspace, or to remove it.
#[derive(Debug)]
pub(crate) struct WorkspaceLock {
    _file: File,
}

/// Why a workspace cannot be locked.
#[derive(Debug)]
pub(crate) enum LockError {
    /// The workspace is absent, or being removed.
    Gone,
    /// Another host uses it.
    InUse,
    /// The system refused.
    System(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Gone } else { Self::System(error) }
    }
}

impl WorkspaceLock {
    /// Locks a workspace for use, beside other hosts.
    pub(crate) fn shared(workspace: &Path) -> Result<Self, LockError> {
        Self::lock(workspace, File::try_lock_shared).map_err(|error| match error {
            // Only a removal locks exclusively.
            LockError::InUse => LockError::Gone,
            other => other,
        })
    }

    /// Locks a workspace for its removal.
    pub(crate) fn exclusive(workspace: &Path) -> Result<Self, LockError> {
        Self::lock(workspace, File::try_lock)
    }

    fn lock(workspace: &Path, try_lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, LockError> {
        let path = workspace.join(LOCK);
        for _ in 0..ATTEMPTS {
            let file = private_files::open_lock(&path)?;
            match try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::InUse),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            // A new workspace may have taken the path since.
            if is_at(&file, &path)? {
                return Ok(Self { _file: file });
            }
        }
        Err(LockError::Gone)
    }
}
