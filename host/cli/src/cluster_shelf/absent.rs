//! Builds without the feature `postgres`: no command changes what all hosts of a cluster have.

use std::{convert::Infallible, path::Path};

use anyhow::Result;
use wharf::{Configuration, InvalidConfiguration, PluginName, added::InstalledChange};

use crate::{exit::Unusable, global::Global};

/// What this build of the command says where a cluster is meant.
pub(crate) const NO_CLUSTER: &str =
    "this build of Wharf has no clusters: build the crate `wharf-cli` with the feature `postgres`";

/// What fails is opening one.
pub(crate) type ShelfError = Infallible;

/// There is none.
#[derive(Debug)]
pub(crate) enum ClusterShelf {}

impl ClusterShelf {
    pub(crate) fn of_command(global: &Global) -> Result<Self> {
        // Says what else is wrong first.
        global.configuration()?;
        Err(Unusable(NO_CLUSTER.to_owned()).into())
    }

    pub(crate) fn open(_: &Configuration, _: &Path) -> Result<Self> {
        Err(Unusable(NO_CLUSTER.to_owned()).into())
    }

    pub(crate) fn apply(&self, _: InstalledChange<'_>) -> Result<bool, ShelfError> {
        match *self {}
    }

    pub(crate) fn host_names(&self, _: &PluginName) -> bool {
        match *self {}
    }

    pub(crate) fn tables(&self) -> Result<String, ShelfError> {
        match *self {}
    }

    pub(crate) fn check(&self, _: &str) -> Result<Configuration, InvalidConfiguration> {
        match *self {}
    }

    pub(crate) fn refused(&self, _: &str) -> Result<Option<(String, String)>, ShelfError> {
        match *self {}
    }

    pub(crate) fn write(&self, _: &str, _: &str) -> Result<(), ShelfError> {
        match *self {}
    }
}
