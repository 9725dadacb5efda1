//! Tables of plugins that all hosts of a cluster have, beside those of a host's own `wharf.toml`.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use wharf_core::PluginName;

use super::{
    document::{Configuration, place_of},
    error::InvalidConfiguration,
    http::TokenSettings,
    plugin::WrittenPlugin,
    settings_of_cluster::with_tokens,
};
use crate::{added::AddedPlugins, missing_feature, reserved_name};

/// What the tables of a cluster may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WrittenForAll {
    plugin: BTreeMap<PluginName, WrittenPlugin>,
    #[serde(flatten)]
    pub(super) settings: toml::Table,
}

impl WrittenForAll {
    pub(super) fn read(text: &str) -> Result<Self, InvalidConfiguration> {
        let written = toml::from_str(text);
        let written = written.map_err(|error| InvalidConfiguration::Syntax { problem: place_of(&error) })?;
        missing_feature::check(text)?;
        Ok(written)
    }
}

impl Configuration {
    /// The same with the `[plugin.NAME]` tables and the tokens that all hosts of a cluster have. A
    /// table or a token of its own goes before one of the cluster, as a whole. Relative paths are
    /// relative to `data`, the data directory of each host. Other settings of all hosts are checked:
    /// they hold from the start of a host on ([`Configuration::with_settings_of_cluster`]).
    ///
    /// # Errors
    /// Where the text says what is of one host, or what is not accepted; a file as the `source` of a
    /// plugin, which other hosts need not have, is not.
    pub fn with_tables_of_cluster(&self, text: &str, data: &Path) -> Result<Self, InvalidConfiguration> {
        let WrittenForAll { plugin, settings } = WrittenForAll::read(text)?;
        let refused = |problem| InvalidConfiguration::Value { problem };
        let whole = self.merged(settings).map_err(refused)?;
        let mut plugins = self.checked_for_all(plugin, data).map_err(refused)?;
        // What the ceilings of the next start will not allow is refused now.
        whole.checked_for_all(WrittenForAll::read(text)?.plugin, data).map_err(refused)?;
        plugins.extend(self.plugins.clone());
        let of_cluster = whole.http.tokens.into_iter().filter(TokenSettings::is_of_cluster).collect();
        let mut same = self.clone();
        same.plugins = plugins;
        same.http.tokens = with_tokens(same.http.tokens, of_cluster);
        Ok(same)
    }

    /// The same with the tables of the cluster that this configuration names, as the data
    /// directory has them; as it is where it names none.
    ///
    /// # Errors
    /// As [`Configuration::with_tables_of_cluster`]. A data directory that cannot be read is said
    /// of whatever reads plugins from it.
    pub fn as_of_cluster(&self, data: &Path) -> Result<Self, InvalidConfiguration> {
        match AddedPlugins::of(data).tables() {
            Ok(tables) if self.cluster.is_some() => self.with_tables_of_cluster(&tables, data),
            _ => Ok(self.clone()),
        }
    }

    fn checked_for_all(
        &self,
        written: BTreeMap<PluginName, WrittenPlugin>,
        data: &Path,
    ) -> Result<BTreeMap<PluginName, super::PluginSettings>, String> {
        let plugins = written.into_iter().map(|(name, plugin)| {
            if let Some(reason) = reserved_name::reason(&name) {
                return Err(format!("[plugin.{name}] is for the wharf.toml of a host: {reason}"));
            }
            let settings = plugin.check(&name, &self.written_limits, &self.call_ceilings, data)?;
            match &settings.source {
                None => Ok((name, settings)),
                Some(_) => Err(format!(
                    "[plugin.{name}] names a file, which other hosts need not have: `wharf plugin add` gives it to all"
                )),
            }
        });
        plugins.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "[plugin.plans.grants.state]\nreason = \"keeps plans\"\n";

    fn with(own: &str, tables: &str) -> Result<Configuration, String> {
        let own = Configuration::parse(own, Path::new("/etc/wharf")).expect("usable");
        own.with_tables_of_cluster(tables, Path::new("/data")).map_err(|problem| problem.to_string())
    }

    fn grants_state(configuration: &Configuration) -> bool {
        let settings = configuration.settings_of(&"plans".parse().expect("legal"));
        settings.grants.is_some_and(|grants| grants.state.is_some())
    }

    #[test]
    fn a_table_of_the_host_goes_before_one_of_the_cluster() {
        assert!(grants_state(&with("", STATE).expect("usable")));
        let own = with("[plugin.plans]\nenabled = false\n", STATE).expect("usable");
        assert!(!grants_state(&own) && !own.settings_of(&"plans".parse().expect("legal")).enabled);
        let others = with("[plugin.browser]\nenabled = false\n", STATE).expect("usable");
        assert!(grants_state(&others) && !others.settings_of(&"browser".parse().expect("legal")).enabled);
        assert!(with("", "").expect("usable").plugins.is_empty());
    }

    #[test]
    fn ceilings_of_the_host_hold_for_tables_of_the_cluster() {
        let table = "[plugin.plans.limits]\nwall_time_milliseconds = 60000\n";
        let refused = with("[ceilings]\nwall_time_milliseconds = 50000\n", table).expect_err("above the ceiling");
        assert!(refused.contains("wall_time_milliseconds"), "{refused}");
    }

    #[test]
    fn what_is_of_one_host_is_no_table_of_a_cluster() {
        for (tables, word) in [
            ("[state]\ndurability = \"power\"\n", "state"),
            ("[plugin.plans]\nsource = \"plans.wasm\"\n", "wharf plugin add"),
            ("[plugin.host.grants.state]\nreason = \"x\"\n", "wharf.toml of a host"),
            ("[plugin.plans.grants.state]\n", "reason"),
            ("plugin = 1", "plugin"),
        ] {
            let refused = with("", tables).expect_err(tables);
            assert!(refused.contains(word), "{refused}");
        }
    }
}
