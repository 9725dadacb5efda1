//! Plugins that come, change and go: their names in the list, and what happens to
//! calls meanwhile.

mod prefix;

use wharf::{Host, ToolService as _};
use wharf_tests::{Crafted, CraftedTool};

/// A component with a tool of each of these names.
fn with_tools(names: &[&str]) -> Vec<u8> {
    Crafted { tools: names.iter().map(|name| CraftedTool::new(name)).collect(), ..Crafted::default() }.bytes()
}

/// The names of the tools that are listed.
fn listed(host: &Host) -> Vec<String> {
    host.tools().iter().map(|tool| tool.name.clone()).collect()
}
