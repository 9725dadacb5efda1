//! The format of everything that is kept: JSON that says its version, within
//! its bounds.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Entry, ErrorCode, ToolError};

/// The version of everything that is written here. A later one reads the
/// earlier ones.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct VersionedContent<'a, T> {
    version: u32,
    content: &'a T,
}

#[derive(Deserialize)]
struct Read<T> {
    version: u32,
    content: T,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Reads an entry that is there.
pub(crate) fn read<T: DeserializeOwned>(entry: &Entry) -> Result<T, ToolError> {
    let error = match entry.json::<Read<T>>() {
        Ok(read) if read.version <= VERSION => return Ok(read.content),
        Ok(read) => return Err(too_new(&entry.key, read.version)),
        Err(error) => error,
    };
    match entry.json::<Version>() {
        Ok(found) if found.version > VERSION => Err(too_new(&entry.key, found.version)),
        _ => Err(error),
    }
}

fn too_new(key: &str, version: u32) -> ToolError {
    ToolError {
        code: ErrorCode::Unavailable,
        message: format!(
            "`{key}` was written by a newer playbook plugin (format {version}, this one knows {VERSION}): update the \
             plugin"
        ),
        retryable: false,
    }
}

/// Writes a value. `what` names it where it is larger than `most_bytes`, and
/// `room` says what would make it smaller.
pub(crate) fn write<T: Serialize>(
    content: &T,
    most_bytes: usize,
    what: &str,
    room: &str,
) -> Result<Vec<u8>, ToolError> {
    let bytes = serde_json::to_vec(&VersionedContent { version: VERSION, content })?;
    if bytes.len() > most_bytes {
        return Err(ToolError::limit(format!(
            "{what} would take {} bytes, and at most {most_bytes} are kept; {room}",
            bytes.len()
        )));
    }
    Ok(bytes)
}
