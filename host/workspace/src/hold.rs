//! Who uses a workspace, among hosts: a lock on a file beside what guests see.
//!
//! A host holds it, shared with other hosts, while it uses the workspace; whoever removes
//! the workspace needs it alone.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

const LOCK: &str = "lock";
/// Somebody takes a workspace away within a few system calls.
const ATTEMPTS: usize = 8;

/// The right to use a workspace, or to remove it.
#[derive(Debug)]
pub(crate) struct Hold {
    _file: File,
}

/// Why a workspace cannot be held.
#[derive(Debug)]
pub(crate) enum NotHeld {
    /// There is none, or it is on its way out.
    Gone,
    /// Somebody uses it.
    InUse,
    /// The system's reason.
    System(io::Error),
}

impl From<io::Error> for NotHeld {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Gone } else { Self::System(error) }
    }
}

impl Hold {
    /// To use it, beside others.
    pub(crate) fn shared(place: &Path) -> Result<Self, NotHeld> {
        Self::lock(place, File::try_lock_shared).map_err(|error| match error {
            // Only who removes it holds it alone.
            NotHeld::InUse => NotHeld::Gone,
            other => other,
        })
    }

    /// To remove it.
    pub(crate) fn alone(place: &Path) -> Result<Self, NotHeld> {
        Self::lock(place, File::try_lock)
    }

    fn lock(place: &Path, try_lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, NotHeld> {
        let path = place.join(LOCK);
        for _ in 0..ATTEMPTS {
            let file = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            match try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(NotHeld::InUse),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            // A workspace of the same name may have come since.
            let (held, there) = (file.metadata()?, fs::symlink_metadata(&path)?);
            if (held.dev(), held.ino()) == (there.dev(), there.ino()) {
                return Ok(Self { _file: file });
            }
        }
        Err(NotHeld::Gone)
    }
}
