//! The operator's side: all workspaces in a backup, with what makes them workspaces again.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};
use wharf_files::regular_file;

use crate::{
    WorkspaceError, Workspaces, layout,
    lock::{LockError, WorkspaceLock},
    walk::{BackupContent, BackupEntry, FilesLeftOut, described, walk},
};

/// A longer record of an owner is none that a host wrote.
pub(crate) const MAX_OWNER_BYTES: u64 = 64 << 10;
/// A file with holes counts by its blocks, and an archive has its whole length. One that is this
/// many times as long as its blocks, and more, is left out: else a session could keep a
/// backup busy for ever with one file.
#[cfg(unix)]
const MOST_HOLES: u64 = 64;
#[cfg(unix)]
const HOLES_ALLOWED: u64 = 1 << 20;

impl Workspaces {
    /// Hands out all workspaces, while programs may change their files: of each its directory,
    /// who owns it, when it was used, its files and its home. Paths are relative to the
    /// directory of workspaces. Nothing outside of them is read, and links stay links. Counts as
    /// no use; a workspace is not removed meanwhile. Returns what is not handed out: what is no
    /// file, directory or link, what the host may not read, and files that are nearly all
    /// holes.
    ///
    /// # Errors
    /// Where `take` fails, or a workspace cannot be read.
    pub fn back_up(
        &self,
        take: &mut dyn FnMut(BackupEntry<'_>) -> io::Result<()>,
    ) -> Result<FilesLeftOut, WorkspaceError> {
        let mut left_out = FilesLeftOut::default();
        let mut paths = self.layout.paths().map_err(WorkspaceError::storage("read", self.layout.directory()))?;
        paths.sort();
        for path in paths.iter().filter(|path| !layout::is_half_done(path)) {
            let Some(name) = path.file_name().map(Path::new) else { continue };
            let _lock = match WorkspaceLock::shared(path) {
                Ok(lock) => lock,
                // It has just been removed.
                Err(LockError::Gone | LockError::InUse) => continue,
                Err(LockError::System(_)) => {
                    left_out.add(name.to_owned());
                    continue;
                }
            };
            if layout::owner(path).is_none() {
                // Nobody's, as far as a host can tell.
                left_out.add(name.to_owned());
                continue;
            }
            back_up(path, name, &mut left_out, take).map_err(WorkspaceError::storage("back up", path))?;
        }
        Ok(left_out)
    }
}

fn back_up(
    path: &Path,
    name: &Path,
    left_out: &mut FilesLeftOut,
    take: &mut dyn FnMut(BackupEntry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let owner = regular_file::read(&path.join(layout::SESSION), MAX_OWNER_BYTES)?;
    let used = layout::last_use(path)?;
    take(BackupEntry { path: name, mode: 0o711, changed: seconds(used), content: BackupContent::Directory })?;
    let mut own = |file: &str, content: &[u8]| {
        let content = BackupContent::File(content.len() as u64, &mut content.take(u64::MAX));
        take(BackupEntry { path: &name.join(file), mode: 0o644, changed: seconds(used), content })
    };
    own(layout::SESSION, &owner)?;
    own(layout::USED, b"")?;
    for part in [layout::FILES, layout::HOME] {
        // The session's own user can put no link in the place of either.
        if !fs::symlink_metadata(path.join(part))?.is_dir() {
            left_out.add(name.join(part));
            continue;
        }
        let root = Dir::open_ambient_dir(path.join(part), ambient_authority())?;
        let base = name.join(part);
        take(described(&root.dir_metadata()?, &base, BackupContent::Directory))?;
        walk(&root, &base, has_content, left_out, take)?;
    }
    Ok(())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

/// Whether a file is more than holes.
#[cfg(unix)]
fn has_content(about: &Metadata) -> bool {
    use cap_std::fs::MetadataExt as _;
    let blocks = about.blocks().saturating_mul(512);
    about.len() <= HOLES_ALLOWED.saturating_add(blocks.saturating_mul(MOST_HOLES))
}

#[cfg(not(unix))]
fn has_content(_: &Metadata) -> bool {
    true
}
