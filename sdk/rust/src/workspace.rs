//! [`Workspace`]: the files of the session, as a tool sees them.
//!
//! The files themselves are `std::fs`, below [`Directory::path`]. `path` finds what
//! a written path names; the host decides what can be reached.

pub(crate) mod directory;
mod path;

use std::io;

use crate::host::{ActiveHost, HostWorkspace};
use crate::{Call, ToolError};

pub use directory::{Directory, Usage};
pub use path::ResolvedPath;

/// The workspace of the session of a call, and the folders for import and
/// export.
///
/// The host hands out directories that exist when a call first touches a file:
/// where a tool means to write, [`Workspace::create`] comes first.
#[derive(Debug, Clone, Copy)]
pub struct Workspace<'call> {
    host: &'call ActiveHost,
}

impl Call {
    /// The files of this session.
    #[must_use]
    pub fn workspace(&self) -> Workspace<'_> {
        Workspace { host: &self.host }
    }
}

impl Workspace<'_> {
    /// The workspace of this session. Makes nothing.
    ///
    /// # Errors
    /// `denied` where it is not granted.
    pub fn files(&self) -> Result<Directory, ToolError> {
        self.host.files()
    }

    /// The same, made where there is none.
    ///
    /// # Errors
    /// `denied` where it is not granted, or only for reading; `unavailable`
    /// where the disk refuses.
    pub fn create(&self) -> Result<Directory, ToolError> {
        self.host.create()
    }

    /// The folders for import and export that the operator named, by name.
    ///
    /// # Errors
    /// `denied` where no workspace is granted.
    pub fn exchange(&self) -> Result<Vec<(String, Directory)>, ToolError> {
        self.host.exchange()
    }

    /// What the workspace holds now; measures it.
    ///
    /// # Errors
    /// `denied` where it is not granted; `unavailable` where it cannot be read.
    pub fn usage(&self) -> Result<Usage, ToolError> {
        self.host.workspace_usage()
    }
}

impl ToolError {
    /// The error of an operation on a file, for a model: `action` is what could
    /// not be done to it, such as "be read".
    #[must_use]
    pub fn from_file(action: &str, relative: &str, error: &io::Error) -> Self {
        use io::ErrorKind;
        let failed = format!("`{relative}` cannot {action}");
        match error.kind() {
            ErrorKind::NotFound => Self::not_found(format!("{failed}: it is not there, or not any more")),
            // The host refuses a path that would lead out, is no file, or may not be written.
            ErrorKind::PermissionDenied => Self::denied(format!(
                "{failed}: the host does not permit it; only regular files and directories of the workspace can be \
                 used, and links that lead out of it cannot"
            )),
            ErrorKind::ReadOnlyFilesystem => Self::denied(format!("{failed}: it may be read only")),
            ErrorKind::NotADirectory => Self::invalid(format!("{failed}: a part of its path is no directory")),
            ErrorKind::IsADirectory => Self::invalid(format!("{failed}: it is a directory")),
            ErrorKind::AlreadyExists => Self::conflict(format!("{failed}: something of that name is there already")),
            ErrorKind::InvalidFilename => Self::invalid(format!("{failed}: the name is too long, or no name")),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::limit(format!("{failed}: there is no room for it ({error}); remove what is not needed"))
            }
            _ => Self::unavailable(format!("{failed}: {error}")),
        }
    }
}
