//! The directories that a call is handed, and how a file of one is read.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use crate::ToolError;

/// A directory that this call may be handed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Its path for `std::fs`.
    pub path: PathBuf,
    /// The same as processes of the session see it.
    pub shown: String,
    /// Whether it exists.
    pub exists: bool,
    /// Whether files in it may be written, made and removed.
    pub writable: bool,
}

/// How much a workspace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of its files.
    pub bytes: u64,
    /// Number of files and directories.
    pub entries: u64,
    /// How many bytes it may hold.
    pub quota_bytes: u64,
}

impl Directory {
    /// The content of a file, of at most `limit_bytes`.
    ///
    /// # Errors
    /// As [`Directory::find`]; `not-found` where there is no such file;
    /// `invalid` where it is no regular file; `limit` where it is larger.
    pub fn read(&self, path: &str, limit_bytes: usize) -> Result<Vec<u8>, ToolError> {
        let found = self.find(path)?;
        let too_large = || {
            ToolError::limit(format!(
                "`{}` has more than {limit_bytes} bytes; that is all that is read",
                found.relative
            ))
        };
        let limit = u64::try_from(limit_bytes).unwrap_or(u64::MAX);
        if found.file()?.len() > limit {
            return Err(too_large());
        }
        // It may have grown meanwhile.
        let mut content = Vec::new();
        File::open(&found.path)
            .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut content))
            .map_err(|error| ToolError::from_file("be read", &found.relative, &error))?;
        if content.len() > limit_bytes { Err(too_large()) } else { Ok(content) }
    }
}
