//! What the operator has: the configuration, the data directory, the plugins that were
//! added to it.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::Result;
use wharf::{
    Configuration, Digest, PluginName,
    added::{AddedPlugins, InstalledChange},
    sources::{PluginSource, SourceError},
    trust::{SourcedComponent, Vetted},
};

use crate::{
    cluster_shelf::ClusterShelf,
    configuration_edit::{ConfigurationEdit, EditError},
    exit::Unusable,
    global::Global,
    progress::ProgressDisplay,
};

/// What each command about plugins works on.
pub(super) struct Installation {
    /// What holds here: with the tables of the cluster, where there is one.
    pub(super) configuration: Configuration,
    /// The file of it, which may not be there.
    pub(super) file: PathBuf,
    pub(super) data: PathBuf,
    /// What was added. Of a cluster, it is a copy.
    pub(super) added: AddedPlugins,
    cluster: Option<Rc<ClusterShelf>>,
    pub(super) json: bool,
    pub(super) progress: ProgressDisplay,
}

impl Installation {
    pub(super) fn find(global: &Global, json: bool) -> Result<Self> {
        Self::read(global, json, |_, _| Ok(None))
    }

    /// As [`Installation::find`], for a command that changes what is installed: where the
    /// configuration names a cluster, it is changed for all hosts of that.
    pub(super) fn to_change(global: &Global, json: bool, of_cluster: bool) -> Result<Self> {
        Self::read(global, json, |own, data| {
            let is_shared = of_cluster || own.cluster.is_some();
            is_shared.then(|| ClusterShelf::open(own, data).map(Rc::new)).transpose()
        })
    }

    /// `shelf` brings the copy of a cluster up to date, which is read after it.
    fn read(
        global: &Global,
        json: bool,
        shelf: impl FnOnce(&Configuration, &Path) -> Result<Option<Rc<ClusterShelf>>>,
    ) -> Result<Self> {
        let own = global.configuration()?;
        let data = global.data(&own)?;
        let file = global.configuration_target()?;
        Ok(Self {
            cluster: shelf(&own, &data)?,
            configuration: own.as_of_cluster(&data).map_err(|error| unusable(&error))?,
            added: AddedPlugins::of(&data),
            file,
            data,
            json,
            progress: global.progress(),
        })
    }

    /// Who signed a component, where it may be loaded.
    pub(super) fn vet(&self, name: &PluginName, sourced: &SourcedComponent) -> Result<Vetted> {
        let denied = self.configuration.denied(&self.data);
        self.configuration.vet(name, sourced, &denied).map_err(|error| unusable(&error))
    }

    /// The table of a plugin, to be changed.
    pub(super) fn edit(&self, name: &PluginName) -> Result<ConfigurationEdit, EditError> {
        ConfigurationEdit::of_plugin(name, &self.file, self.cluster.as_ref())
    }

    /// Whether what is changed is changed for all hosts of a cluster.
    pub(super) fn is_of_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// Changes what is installed; whether it is another set now.
    pub(super) fn apply(&self, change: InstalledChange<'_>) -> Result<bool> {
        match &self.cluster {
            None => self.added.apply(change).map_err(|error| unusable(&error)),
            Some(shelf) => {
                let brings = matches!(change, InstalledChange::Add { .. } | InstalledChange::Replace { .. });
                let step = brings.then(|| self.progress.step("preparing it at all hosts of the cluster"));
                let applied = shelf.apply(change);
                drop(step);
                applied.map_err(|error| unusable(&error))
            }
        }
    }
}

/// What an operator mends.
pub(super) fn unusable(error: &dyn std::error::Error) -> anyhow::Error {
    Unusable(wharf::with_causes(error)).into()
}

/// A source as it is written on a command line.
pub(super) fn source(text: &str) -> Result<PluginSource, SourceError> {
    text.parse()
}

/// A source as it is kept: a path that is the same wherever the next command runs.
pub(super) fn absolute_source(source: PluginSource) -> Result<PluginSource> {
    Ok(match source {
        PluginSource::File(path) => PluginSource::File(std::path::absolute(path)?),
        other @ (PluginSource::Address(_) | PluginSource::Registry(_)) => other,
    })
}

/// Refuses a component that is another one than was named.
pub(super) fn check_digest(found: Digest, named: Option<Digest>) -> Result<()> {
    match named.filter(|named| *named != found) {
        Some(named) => {
            Err(Unusable(format!("its digest is {found}, and you named {named}; nothing was changed")).into())
        }
        None => Ok(()),
    }
}
