//! Names under which clients see tools: how they are put together, and nothing of what
//! they stand for.

use wharf_core::PluginName;

/// Separates the names of plugin and tool. Neither may contain it.
pub(crate) const SEPARATOR: &str = "__";

/// Before the names of all tools of front ends. No plugin has a name like that.
pub(crate) const FRONT_END_PREFIX: &str = "app_";

/// The name under which a client sees a tool.
pub(crate) fn full_name(plugin: &PluginName, tool: &str) -> String {
    format!("{plugin}{SEPARATOR}{tool}")
}

/// The front end of a tool of one, `app_NAME`: it stands for a plugin of its own.
pub(crate) fn front_end_of(full_name: &str) -> &str {
    full_name.split_once(SEPARATOR).map_or(full_name, |(front_end, _)| front_end)
}
