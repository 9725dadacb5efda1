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

/// What opens a file that exists: a link is refused, and a pipe is not waited for.
#[cfg(unix)]
pub(crate) fn options_without_links() -> OpenOptions {
    use rustix::fs::OFlags;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, i32::try_from(flags.bits()).unwrap_or_default());
    options
}

/// What opens a file that exists: a link is opened itself, and has no content.
#[cfg(windows)]
pub(crate) fn options_without_links() -> OpenOptions {
    /// `FILE_FLAG_OPEN_REPARSE_POINT`
    const LINK_ITSELF: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, LINK_ITSELF);
    options
}

/// Whether an open file still has a name, and is nobody else's to read.
#[cfg(unix)]
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    metadata.nlink() > 0 && metadata.mode() & 0o077 == 0
}

/// Whether an open file is a regular one, and no link. The directory above it decides who
/// reads it.
#[cfg(windows)]
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    metadata.is_file()
}
