//! What the buckets of a plugin may hold, whether it is loaded or not.

use wharf_core::{PluginName, StateGrant};

use super::Configuration;
use crate::bundled;

impl Configuration {
    /// The grant of state that calls of this plugin have; none where it has
    /// none, or where nothing is known of it.
    #[must_use]
    pub fn state_grant(&self, plugin: &PluginName) -> Option<StateGrant> {
        let settings = self.plugins.get(plugin);
        if let Some(grants) = settings.and_then(|settings| settings.grants.as_ref()) {
            return grants.state.clone();
        }
        if settings.is_some_and(|settings| settings.source.is_some()) {
            return None;
        }
        bundled::find(plugin.as_str())?.grants().state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_the_configured_one_and_a_plugin_from_a_file_has_none_of_its_own() {
        let text = "[plugin.own]\nsource = \"x.wasm\"\n[plugin.own.grants.state]\nreason = \"r\"\nquota_bytes = 7\n\
                    [plugin.bare]\nsource = \"x.wasm\"\n[plugin.planning]\nsource = \"x.wasm\"";
        let configuration = Configuration::parse(text, std::path::Path::new("/")).expect("parses");
        let quota =
            |name: &str| configuration.state_grant(&name.parse().expect("legal")).map(|grant| grant.quota_bytes);
        assert_eq!(quota("own"), Some(7));
        // A file in the place of a bundled plugin does not inherit its grants.
        assert_eq!((quota("bare"), quota("planning"), quota("unknown")), (None, None, None));
        let bundled = bundled::PLUGINS.first().map(|bundled| bundled.name.parse().expect("legal"));
        assert!(bundled.is_none_or(|name| Configuration::default().state_grant(&name).is_some()));
    }
}
