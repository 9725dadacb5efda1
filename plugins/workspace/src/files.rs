//! What the tools for files share: which directory is meant, and errors with
//! what to do next.

pub(crate) mod edits;
pub(crate) mod kind;
pub(crate) mod replace;
pub(crate) mod search;

use wharf_sdk::workspace::{Directory, ResolvedPath};
use wharf_sdk::{Call, ErrorCode, ToolError};

/// The workspace as it is. Makes nothing.
pub(crate) fn to_read(call: &Call) -> Result<Directory, ToolError> {
    call.workspace().files()
}

/// The workspace, made where there is none. Comes before the first file is
/// touched, since the host hands out the directories that there are then.
pub(crate) fn to_write(call: &Call) -> Result<Directory, ToolError> {
    call.workspace().create()
}

/// What a path of the workspace names.
pub(crate) fn find(directory: &Directory, path: &str) -> Result<ResolvedPath, ToolError> {
    directory.find(path).map_err(advised)
}

/// The regular file that a path of the workspace names.
pub(crate) fn find_file(directory: &Directory, path: &str) -> Result<ResolvedPath, ToolError> {
    let found = find(directory, path)?;
    if !directory.exists {
        return Err(empty(&found.relative));
    }
    found.file().map_err(advised)?;
    Ok(found)
}

/// The directory that a path of the workspace names.
pub(crate) fn find_directory(directory: &Directory, path: &str) -> Result<ResolvedPath, ToolError> {
    let found = find(directory, path)?;
    if !directory.exists && found.relative != "." {
        return Err(empty(&found.relative));
    }
    if directory.exists {
        found.directory().map_err(advised)?;
    }
    Ok(found)
}

fn empty(relative: &str) -> ToolError {
    ToolError::not_found(format!(
        "there is no `{relative}`: the workspace is empty, since nothing was written to it yet; write_file, import_file \
         or execute_shell put files there"
    ))
}

/// An error about a path, with what to do next.
pub(crate) fn advised(error: ToolError) -> ToolError {
    if error.code != ErrorCode::NotFound || error.message.contains("list_directory") {
        return error;
    }
    error.with_advice("list_directory and search_files show what there is")
}
