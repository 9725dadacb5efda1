//! Files and directories that only the host's own user reads.
//!
//! On Unix their permissions say so. Windows has none of these: there the
//! directory above them decides, which for data of a user is the user's alone.

use std::fs::{DirBuilder, Metadata, OpenOptions};

/// What opens such a file; a new one is the user's own.
pub(crate) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets permissions"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// What makes such a directory.
pub(crate) fn directory_builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets permissions"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Whether nobody else may read a file.
#[cfg(unix)]
pub(crate) fn is_private(metadata: &Metadata) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt as _;

    Some(metadata.permissions().mode() & 0o077 == 0)
}

/// Whether nobody else may read a file, which this system does not say.
#[cfg(not(unix))]
pub(crate) fn is_private(_: &Metadata) -> Option<bool> {
    None
}
