//! Components in files.

use std::{fs::File, io::Read, path::Path};

/// Reads a component, at most one byte more than `limit`: an engine with that
/// limit refuses what is longer, and nothing larger is ever held.
///
/// # Errors
/// Where the file cannot be read.
pub fn read_component(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
