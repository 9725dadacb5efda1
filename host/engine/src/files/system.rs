//! What files for guests need of a file system: steps on an open directory and a path or name
//! below it, none of which a link leads out.

// Tests on Linux compile it too.
#[cfg(any(test, not(target_os = "linux")))]
pub(crate) mod elsewhere;
#[cfg(target_os = "linux")]
pub(crate) mod linux;

use std::{ffi::OsStr, fs::File, io, path::Path};

use wasmtime_wasi::p2::bindings::filesystem::types::{DirectoryEntry, ErrorCode};

use super::{OpenRequest, facts::FileFacts};

/// The file system of this host.
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::CapabilityFiles as Native;
#[cfg(target_os = "linux")]
pub(crate) use linux::LinuxFiles as Native;

/// The steps, as one system or another takes them. A name is right below its directory.
pub(crate) trait FileSystem {
    /// A listing that is being read.
    type Listing: Send;

    /// Opens a directory of the host's, to be handed to a guest.
    fn root(path: &Path) -> io::Result<File>;

    /// Opens a path, or makes a file that is `new` there, without waiting for the other end of a
    /// FIFO. It truncates nothing.
    fn open(directory: &File, path: &Path, request: OpenRequest, new: bool) -> io::Result<File>;

    /// Opens a directory for the steps on names below it, and nothing else.
    fn directory_above(directory: &File, path: &Path) -> io::Result<File>;

    fn facts(opened: &File) -> io::Result<FileFacts>;

    /// The facts of what has a name; a link is not followed.
    fn facts_at(above: &File, name: &OsStr) -> io::Result<FileFacts>;

    fn make_directory(above: &File, name: &OsStr) -> io::Result<()>;

    fn rename(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()>;

    fn unlink(above: &File, name: &OsStr) -> io::Result<()>;

    fn symlink(target: &Path, above: &File, name: &OsStr) -> io::Result<()>;

    fn link(above: &File, name: &OsStr, new_above: &File, new_name: &OsStr) -> io::Result<()>;

    fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize>;

    fn append(file: &File, bytes: &[u8]) -> io::Result<usize>;

    /// Lists a directory from its beginning. The directory need not stay open.
    fn list(directory: &File) -> io::Result<Self::Listing>;

    /// The next entry; none at the end.
    fn next_entry(listing: &mut Self::Listing) -> Option<Result<DirectoryEntry, ErrorCode>>;
}
