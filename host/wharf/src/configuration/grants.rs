//! What plugins may use, whether they are loaded or not.

use serde_json::{Map, Value};
use wharf_core::{Grants, PluginName, StateGrant, audit::Replaced};

use super::{document::Configuration, plugin::PluginSettings};
use crate::bundled;

impl Configuration {
    /// What holds for a plugin, whether it is written or not.
    #[must_use]
    pub fn settings_of(&self, name: &PluginName) -> PluginSettings {
        self.plugins.get(name).cloned().unwrap_or_else(|| {
            let bundled = bundled::find(name.as_str());
            PluginSettings::unwritten(match bundled {
                Some(bundled) => self.limits_of_bundled(bundled.name),
                None => self.call_limits.clone(),
            })
        })
    }

    /// What a plugin may use: what is written, else what a bundled one has.
    pub(crate) fn grants(&self, name: &PluginName, settings: &PluginSettings) -> Grants {
        if let Some(grants) = &settings.grants {
            return grants.clone();
        }
        match bundled::find(name.as_str()).filter(|_| settings.source.is_none()) {
            Some(bundled) => self.profile.grants(bundled.name),
            None => Grants::default(),
        }
    }

    /// What the host's own routes may use: what is written, else what the
    /// profile gives them.
    #[must_use]
    pub fn host_grants(&self) -> Grants {
        let grants = self.written_host_grants.clone().unwrap_or_else(|| self.profile.host_grants());
        Grants { standing: self.standing(), ..grants }
    }

    /// Whether any plugin may have processes.
    pub(crate) fn grants_processes(&self) -> bool {
        self.granted().any(|grants| grants.process.is_some())
    }

    /// Whether any plugin, or the host itself, may have terminals.
    pub(crate) fn grants_terminals(&self) -> bool {
        self.granted().chain([self.host_grants()]).any(|grants| grants.terminal.is_some())
    }

    /// Whether any plugin, or the host itself, may have web pages.
    pub(crate) fn grants_webviews(&self) -> bool {
        self.granted().chain([self.host_grants()]).any(|grants| grants.webview.is_some())
    }

    /// What each plugin may use that is loaded.
    fn granted(&self) -> impl Iterator<Item = Grants> {
        let written = self.plugins.iter().filter(|(_, settings)| settings.enabled);
        let unwritten =
            bundled::PLUGINS.iter().filter(|bundled| !self.plugins.keys().any(|name| name.as_str() == bundled.name));
        let written = written.map(|(name, settings)| self.grants(name, settings));
        written.chain(unwritten.map(|bundled| self.profile.grants(bundled.name)))
    }

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
        self.profile.grants(bundled::find(plugin.as_str())?.name).state
    }
}

/// The names of the capabilities that are granted.
pub(crate) fn granted_names(grants: &Grants) -> Vec<String> {
    let granted = [
        ("state", grants.state.is_some()),
        ("events", grants.events.is_some()),
        ("process", grants.process.is_some()),
        ("terminal", grants.terminal.is_some()),
        ("webview", grants.webview.is_some()),
        ("workspace", grants.workspace.is_some()),
        ("http", grants.http.is_some()),
    ];
    granted.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned()).collect()
}

/// The grants that differ, as `wharf.toml` has them; nothing where all are the same. Neither a secret nor
/// where one comes from is among them.
pub(crate) fn replaced_grants(before: Option<&Grants>, after: Option<&Grants>) -> Option<Replaced> {
    let written = |grants: Option<&Grants>| match grants.and_then(|grants| serde_json::to_value(grants).ok()) {
        Some(Value::Object(grants)) => grants,
        _ => Map::new(),
    };
    let (before, after) = (written(before), written(after));
    let text = |these: &Map<String, Value>, others: &Map<String, Value>| {
        let differ: Map<_, _> = these
            .iter()
            .filter(|(name, grant)| others.get(*name) != Some(*grant))
            .map(|(name, grant)| (name.clone(), grant.clone()))
            .collect();
        (!differ.is_empty()).then(|| Value::Object(differ).to_string())
    };
    Replaced::of(text(&before, &after).as_deref(), text(&after, &before).as_deref())
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
        let bundled = bundled::find("planning").map(|bundled| bundled.name.parse().expect("legal"));
        assert!(bundled.is_none_or(|name| Configuration::default().state_grant(&name).is_some()));
    }
}
