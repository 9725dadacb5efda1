//! Files and directories that only the host's own user reads.
//!
//! On Unix their permissions say so. Windows has none of these: there the
//! directory above them decides, which for data of a user is the user's alone.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
};

/// What opens such a file; a new one is the user's own.
pub(crate) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets permissions"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes such a directory and those above it, where they are not there.
///
/// # Errors
/// Where the system refuses.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
