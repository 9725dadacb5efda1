//! What all hosts of a cluster have, as a command of one of them changes it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use tokio::runtime::Runtime;
use wharf::{
    Configuration, InvalidConfiguration, PluginName,
    added::InstalledChange,
    cluster::{ClusterHosts, ClusterHostsError, ClusterPlugins, ClusterPluginsError},
};

use crate::{
    exit::Unusable,
    global::{Global, runtime},
};

/// What all hosts of a cluster have cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShelfError {
    /// The database.
    #[error(transparent)]
    Plugins(#[from] ClusterPluginsError),
    /// The hosts cannot be asked.
    #[error(transparent)]
    Hosts(#[from] ClusterHostsError),
    /// A host could not serve a plugin.
    #[error("the host {host} could not serve it, and nothing was changed: {problem}")]
    OfHost {
        /// Its name.
        host: String,
        /// Why.
        problem: String,
    },
}

/// The plugins of a cluster, and the tables of `wharf.toml` that all its hosts have.
#[derive(Debug)]
pub(crate) struct ClusterShelf {
    runtime: Runtime,
    hosts: ClusterHosts,
    plugins: ClusterPlugins,
    /// What the `wharf.toml` of this host says.
    own: Configuration,
    data: PathBuf,
}

impl ClusterShelf {
    /// Opens that of the cluster which the configuration of a command names.
    pub(crate) fn of_command(global: &Global) -> Result<Self> {
        let own = global.configuration()?;
        Self::open(&own, &global.data(&own)?)
    }

    /// Opens that of the cluster which a configuration names, and brings the copy on the data
    /// directory up to date.
    pub(crate) fn open(own: &Configuration, data: &Path) -> Result<Self> {
        let runtime = runtime()?;
        let (hosts, plugins) = runtime.block_on(async {
            let hosts = ClusterHosts::open(own).await.map_err(|error| Unusable::of(&error))?;
            let plugins = hosts.plugins(data, own.host_limits.component_bytes).await;
            let plugins = plugins.map_err(|error| Unusable::of(&error))?;
            plugins.catch_up().await.map_err(|error| Unusable::of(&error))?;
            anyhow::Ok((hosts, plugins))
        })?;
        let own = own.with_settings_of_cluster(data).map_err(|error| Unusable::of(&error))?;
        Ok(Self { runtime, hosts, plugins, own, data: data.to_owned() })
    }

    /// Changes what is installed at all hosts, once each that serves has compiled what comes; whether
    /// it is another set now.
    pub(crate) fn apply(&self, change: InstalledChange<'_>) -> Result<bool, ShelfError> {
        let compiling = Duration::from_millis(self.own.host_limits.compile_milliseconds);
        self.runtime.block_on(async {
            if let Some(plugin) = self.plugins.propose(change).await? {
                let refused = self.hosts.plugin_refusals(&plugin, compiling).await?;
                if let Some((host, problem)) = refused.into_iter().next() {
                    return Err(ShelfError::OfHost { host, problem });
                }
            }
            Ok(self.plugins.apply(change).await?)
        })
    }

    /// Whether the `wharf.toml` of this host has a table for a plugin, which goes before that of all.
    pub(crate) fn host_names(&self, plugin: &PluginName) -> bool {
        self.own.plugins.contains_key(plugin)
    }

    /// The tables that all hosts have.
    pub(crate) fn tables(&self) -> Result<String, ShelfError> {
        Ok(self.plugins.copy().tables().map_err(ClusterPluginsError::from)?)
    }

    /// What the configuration of this host amounts to with these tables.
    pub(crate) fn check(&self, tables: &str) -> Result<Configuration, InvalidConfiguration> {
        self.own.with_tables_of_cluster(tables, &self.data)
    }

    /// Why a host that serves could not use these tables, and which one.
    pub(crate) fn refused(&self, tables: &str) -> Result<Option<(String, String)>, ShelfError> {
        Ok(self.runtime.block_on(self.hosts.refusals(tables))?.into_iter().next())
    }

    /// Writes the tables, where they still are as `before` says.
    pub(crate) fn write(&self, before: &str, tables: &str) -> Result<(), ShelfError> {
        self.runtime.block_on(self.plugins.write_tables(before, tables))?;
        Ok(())
    }
}
