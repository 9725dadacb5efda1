//! The plugins that a client may use, as the operator writes them.

use wharf_core::{service::AllowedPlugins, tool::ToolSelection};
use wildmatch::WildMatch;

/// Those whose names match one of the patterns, in which `*` stands for any text, with the
/// tools that are selected; nothing where all may be used.
pub(crate) fn allowed_plugins(patterns: Option<&[String]>, tools: &ToolSelection) -> Option<AllowedPlugins> {
    let allowed = match patterns {
        None if tools.is_all() => return None,
        None => AllowedPlugins::new(|_| true),
        Some(patterns) => {
            let patterns: Vec<_> = patterns.iter().map(|pattern| WildMatch::new(pattern)).collect();
            AllowedPlugins::new(move |plugin| patterns.iter().any(|pattern| pattern.matches(plugin)))
        }
    };
    Some(allowed.with_tools(tools.clone()))
}
