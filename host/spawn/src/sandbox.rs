//! The view of a contained child: for its supervisor, and as paths for Landlock.
//!
//! Shows nothing itself.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use crate::{
    Bind, Sandbox, SpawnError,
    system_paths::{DIRECTORIES_OF_SETTINGS, SYSTEM},
    wire::{LandlockRules, SandboxView},
};

/// The view for a supervisor in namespaces of its own. Names of users are the sandbox's own.
pub(crate) fn view(sandbox: &Sandbox, user: Option<u32>, home: &Path) -> SandboxView {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let all = |binds: &[Bind]| binds.iter().map(|bind| (bytes(&bind.source), bytes(&bind.target))).collect();
    SandboxView { readable: all(&sandbox.readable), writable: all(&sandbox.writable), user, home: bytes(home) }
}

/// The paths of the system that every sandbox shows and that another file of the same
/// name may replace while one waits for its child.
pub(crate) fn shown() -> impl Iterator<Item = &'static Path> {
    SYSTEM.iter().chain(&DIRECTORIES_OF_SETTINGS).map(Path::new)
}

/// The same view for Landlock, which shows every file at its own path.
pub(crate) fn confinement(sandbox: &Sandbox) -> Result<LandlockRules, SpawnError> {
    let all = |binds: &[Bind]| {
        let path = |bind: &Bind| match bind.source == bind.target {
            true => Ok(bind.source.as_os_str().as_bytes().to_vec()),
            false => Err(SpawnError::Moved { source_path: bind.source.clone(), target: bind.target.clone() }),
        };
        binds.iter().map(path).collect::<Result<Vec<_>, _>>()
    };
    let (writable, readable) = (all(&sandbox.writable)?, all(&sandbox.readable)?);
    Ok(LandlockRules { writable, readable, network: sandbox.network })
}
