//! Files that nobody else may read, as programs ask of keys and passwords.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

/// Writes a file that the owner of the folder alone may read.
///
/// # Panics
/// Where it cannot be written.
pub fn write_private(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("private");
    let owner = fs::metadata(folder).expect("a folder").uid();
    chown(&path, Some(owner), None).expect("the folder's owner has it");
    path
}
