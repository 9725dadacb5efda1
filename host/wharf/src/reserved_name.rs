//! Names that no plugin may have, since they stand for something else.

use wharf_core::PluginName;

/// Why no plugin is called `app`.
pub(crate) const OF_APP: &str = "the name `app` is that of the tools which the embedding app registers itself; choose \
                                   another name for the plugin";
/// Why no plugin is called `host`.
const OF_HOST: &str = "the name `host` stands for the host itself; choose another name for the plugin";

/// Why a plugin cannot have this name, where it cannot: it stands for something else.
#[must_use]
pub fn reason(name: &PluginName) -> Option<&'static str> {
    if *name == PluginName::app() {
        return Some(OF_APP);
    }
    (*name == PluginName::host()).then_some(OF_HOST)
}
