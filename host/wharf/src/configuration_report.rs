//! Whether what a configuration names is there and of use: sources, tokens, secrets,
//! certificates and folders are opened, as a host would open them when it starts.
//!
//! Starts nothing, grants nothing and keeps nothing, but for compiled code where hosts
//! keep it.

mod components;
mod files;
mod finding;
mod grants;
mod patterns;
#[cfg(feature = "http")]
mod tls;

use std::path::{Path, PathBuf};

use wharf_core::PluginName;

use self::components::NamedPlugins;
pub use self::finding::{ConfigurationFinding, ConfigurationPart, ConfigurationReport};
use crate::{configuration::Configuration, folder::FolderPlugin, unknown_table};

impl Configuration {
    /// Opens what the configuration names; `data` is where a host would keep its data,
    /// which need not be there, and `variable` finds a variable of the environment.
    ///
    /// Compiles components that no host has compiled, which takes seconds each. Blocks;
    /// not for an async task.
    #[must_use]
    pub fn check_named(&self, data: &Path, variable: impl Fn(&str) -> Option<String>) -> ConfigurationReport {
        match self.as_of_cluster(data) {
            Ok(whole) => whole.check_whole(data, variable),
            Err(problem) => {
                let mut checked = self.check_whole(data, variable);
                let says = format!("what all hosts of the cluster say of plugins: {problem}");
                checked.problems.push(ConfigurationPart::Cluster.says(says));
                checked
            }
        }
    }

    fn check_whole(&self, data: &Path, variable: impl Fn(&str) -> Option<String>) -> ConfigurationReport {
        let mut checked = ConfigurationReport::default();
        let plugins = NamedPlugins::find(self, data, &mut checked);
        checked.problems.extend(unknown_table::tables(self, &plugins.known).into_iter().map(|table| {
            let says = format!("[plugin.{}] {}", table.name, table.reason);
            ConfigurationPart::Plugin.of(&table.name, says)
        }));
        let facts = plugins.load(self, data, &mut checked);
        self.check_files(data, variable, &mut checked);
        self.check_patterns(&plugins.known, &facts, &mut checked);
        self.check_grants(&facts, &mut checked);
        checked
    }

    /// What keeps a host from starting: a table that was probably meant for a plugin
    /// which has none. `data` is where the host would keep its data. Blocks.
    #[must_use]
    pub fn misspelt(&self, data: &Path) -> Option<String> {
        // Other problems keep no host from starting.
        let plugins = NamedPlugins::find(self, data, &mut ConfigurationReport::default());
        let misspelt = unknown_table::tables(self, &plugins.known).into_iter().find(|table| table.is_misspelt)?;
        Some(format!("[plugin.{}]: {}", misspelt.name, misspelt.reason))
    }

    /// The plugins whose files lie in the folder of plugins, as far as it can be read and
    /// their names are legal; which of them a host would load is for [`check_named`](Self::check_named)
    /// to say. Blocks.
    #[must_use]
    pub fn folder_plugins(&self) -> Vec<(PluginName, PathBuf)> {
        let found = components::files_of_folder(self, &mut ConfigurationReport::default()).into_iter();
        found.filter(|found| found.problem.is_none()).map(|FolderPlugin { name, file, .. }| (name, file)).collect()
    }
}
