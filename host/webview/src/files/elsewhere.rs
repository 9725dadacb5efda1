//! The same names for systems other than Linux, on which nothing opens a file without
//! following a link somewhere on its path.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
};

use crate::{PageWorkspace, WebViewError};

const REFUSAL: &str = "files of pages need Linux, where the host opens them without following a link";

/// Open files on their way into a page; this system has none.
#[derive(Debug)]
pub(crate) struct UploadFiles {
    pub(crate) bytes: u64,
    never: Infallible,
}

/// Refuses.
pub(crate) fn open(_: &PageWorkspace, _: &[PathBuf]) -> Result<UploadFiles, WebViewError> {
    let source = io::Error::new(io::ErrorKind::Unsupported, REFUSAL);
    Err(WebViewError::System { action: "open the files of the workspace", source })
}

/// Copies files, of which there are none.
pub(crate) fn stage(_: &Path, _: &str, _: u64, _: Option<u32>, staged: UploadFiles) -> io::Result<Vec<PathBuf>> {
    match staged.never {}
}

/// Refuses.
pub(crate) fn keep(_: &PageWorkspace, _: &Path, _: &str, _: u64, _: Option<u32>) -> Result<String, String> {
    Err(REFUSAL.to_owned())
}

/// Removes a staged download that is not kept.
pub(crate) fn discard(staged: &Path) {
    if let Err(error) = std::fs::remove_file(staged)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "a download that is not kept cannot be removed");
    }
}
