//! What all hosts of a cluster have, as a command of one of them changes it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tokio::runtime::Runtime;
use wharf::{
    Configuration, InvalidConfiguration, PluginName,
    added::InstalledChange,
    cluster::{ClusterHosts, ClusterPlugins, ClusterPluginsError},
};

use crate::{exit::Unusable, global::runtime};

/// The plugins of a cluster, and the tables of `wharf.toml` that all its hosts have.
#[derive(Debug)]
pub(crate) struct ClusterShelf {
    runtime: Runtime,
    plugins: ClusterPlugins,
    /// What the `wharf.toml` of this host says.
    own: Configuration,
    data: PathBuf,
}

impl ClusterShelf {
    /// Opens that of the cluster which a configuration names, and brings the copy on the data
    /// directory up to date.
    pub(crate) fn open(own: &Configuration, data: &Path) -> Result<Self> {
        let runtime = runtime()?;
        let plugins = runtime.block_on(async {
            let hosts = ClusterHosts::open(own).await.map_err(|error| unusable(&error))?;
            let plugins = hosts.plugins(data, own.host_limits.component_bytes).await;
            let plugins = plugins.map_err(|error| unusable(&error))?;
            plugins.catch_up().await.map_err(|error| unusable(&error))?;
            anyhow::Ok(plugins)
        })?;
        Ok(Self { runtime, plugins, own: own.clone(), data: data.to_owned() })
    }

    /// Changes what is installed at all hosts; whether it is another set now.
    pub(crate) fn apply(&self, change: InstalledChange<'_>) -> Result<bool, ClusterPluginsError> {
        self.runtime.block_on(self.plugins.apply(change))
    }

    /// Whether the `wharf.toml` of this host has a table for a plugin, which goes before that of all.
    pub(crate) fn host_names(&self, plugin: &PluginName) -> bool {
        self.own.plugins.contains_key(plugin)
    }

    /// The tables that all hosts have.
    pub(crate) fn tables(&self) -> Result<String, ClusterPluginsError> {
        Ok(self.plugins.copy().tables()?)
    }

    /// What the configuration of this host amounts to with these tables.
    pub(crate) fn check(&self, tables: &str) -> Result<Configuration, InvalidConfiguration> {
        self.own.with_tables_of_cluster(tables, &self.data)
    }

    /// Writes the tables, where they still are as `before` says.
    pub(crate) fn write(&self, before: &str, tables: &str) -> Result<(), ClusterPluginsError> {
        self.runtime.block_on(self.plugins.write_tables(before, tables)).map(drop)
    }
}

fn unusable(error: &dyn std::error::Error) -> Unusable {
    Unusable(wharf::with_causes(error))
}
