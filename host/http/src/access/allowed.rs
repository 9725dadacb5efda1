//! The plugins that a client may use, as the operator writes them.

use wharf_core::service::AllowedPlugins;
use wildmatch::WildMatch;

/// Those whose names match one of the patterns, in which `*` stands for any text.
pub(crate) fn allowed_plugins(patterns: &[String]) -> AllowedPlugins {
    let patterns: Vec<_> = patterns.iter().map(|pattern| WildMatch::new(pattern)).collect();
    AllowedPlugins::new(move |plugin| patterns.iter().any(|pattern| pattern.matches(plugin)))
}
