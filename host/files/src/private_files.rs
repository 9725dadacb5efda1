//! Files and directories that only the host's own user reads.
//!
//! On Unix their permissions say so. Windows has none of these: there the
//! directory above them decides, which for data of a user is the user's alone.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Options for opening such a file; a new one is the user's own.
#[must_use]
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets permissions"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn directory_builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets permissions"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes such a directory and those above it, where they are missing. One that exists
/// keeps its permissions.
///
/// # Errors
/// Where the system refuses, also because something else has the name.
pub fn make_directory(path: &Path) -> io::Result<()> {
    directory_builder().recursive(true).create(path).map_err(|error| match fs::symlink_metadata(path) {
        // The system says only that there is something.
        Ok(_) if !path.is_dir() => io::Error::new(error.kind(), "a directory is expected, and something else is there"),
        _ => error,
    })
}

/// Makes such a directory, whose name has to be free.
///
/// # Errors
/// Where the system refuses.
pub fn make_new_directory(path: &Path) -> io::Result<()> {
    directory_builder().create(path)
}

/// Opens a file to lock it, made where it is missing.
///
/// # Errors
/// Where the system refuses.
pub fn open_lock(path: &Path) -> io::Result<File> {
    options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Replaces a file: readers see the old content or the new one. The caller is its only
/// writer. What is written survives the host, and not the machine: nothing waits for the disk.
///
/// # Errors
/// Where the system refuses; the file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = aside(path);
    options().create(true).write(true).truncate(true).open(&new)?.write_all(bytes)?;
    fs::rename(&new, path)
}

/// The last part of the name of a file that is about to replace another one.
pub const ASIDE: &str = "new";

/// Where the content is written that is about to replace this file.
#[must_use]
pub fn aside(path: &Path) -> PathBuf {
    let mut new = path.as_os_str().to_owned();
    new.push(".");
    new.push(ASIDE);
    new.into()
}

/// Has the names in a directory on disk, where the system can see to that: a new file is durable once its name is.
///
/// # Errors
/// Where the system refuses.
pub fn synchronise_names(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Whether nobody else may read a file.
#[cfg(unix)]
#[must_use]
pub fn is_private(metadata: &Metadata) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt as _;

    Some(metadata.permissions().mode() & 0o077 == 0)
}

/// Whether nobody else may read a file, which this system does not say.
#[cfg(not(unix))]
#[must_use]
pub fn is_private(_: &Metadata) -> Option<bool> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("is there").permissions().mode() & 0o777
    }

    #[test]
    fn files_and_directories_are_their_users_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let inner = directory.path().join("outer/inner");
        make_directory(&inner).expect("made");
        make_directory(&inner).expect("made already");
        assert!(make_new_directory(&inner).is_err(), "the name is taken");
        let file = inner.join("file");
        replace(&file, b"text").expect("written");
        open_lock(&inner.join("lock")).expect("opened");
        make_new_directory(&inner.join("new")).expect("made");
        for path in ["", "new", "../../outer"] {
            assert_eq!(mode(&inner.join(path)), 0o700, "{path}");
        }
        for path in ["file", "lock"] {
            assert_eq!(mode(&inner.join(path)), 0o600, "{path}");
        }
        assert_eq!(is_private(&file.metadata().expect("is there")), Some(true));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
        assert_eq!(is_private(&file.metadata().expect("is there")), Some(false));
        let error = make_directory(&file).expect_err("a file has the name");
        assert!(error.to_string().contains("something else is there"), "{error}");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_lock_keeps_what_it_has() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("record.json");
        fs::write(directory.path().join("record.json.new"), "half of what an ended host wrote").expect("written");
        replace(&file, b"first, and long").expect("written");
        let opened_before = fs::File::open(&file).expect("opened");
        replace(&file, b"second").expect("written");
        assert_eq!(fs::read(&file).expect("read"), b"second");
        assert_eq!(io::read_to_string(opened_before).expect("read"), "first, and long");
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 1, "no other file stays");
        open_lock(&file).expect("opened");
        assert_eq!(fs::read(&file).expect("read"), b"second");
    }
}
