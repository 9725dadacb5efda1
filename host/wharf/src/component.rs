//! Components in this program.

use wharf_core::PluginName;
use wharf_engine::Component;

use crate::bundled;

/// The component of a plugin that is part of this program.
#[must_use]
pub fn bundled_component(name: &PluginName) -> Option<Component> {
    bundled::find(name.as_str()).map(bundled::Bundled::component)
}
