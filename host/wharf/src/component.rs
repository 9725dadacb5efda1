//! Components in files, and in this program.

use std::{fs::File, io::Read, path::Path};

use wharf_core::PluginName;
use wharf_engine::Component;

use crate::bundled;

/// The component of a plugin that is part of this program.
#[must_use]
pub fn bundled_component(name: &PluginName) -> Option<Component> {
    bundled::find(name.as_str()).map(bundled::Bundled::component)
}

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
