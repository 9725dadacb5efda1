//! What the operator has: the configuration, the data directory, the plugins that were
//! added to it.

use std::path::PathBuf;

use anyhow::Result;
use wharf::{
    Configuration, Digest,
    added::AddedPlugins,
    sources::{PluginSource, SourceError},
};

use crate::{exit::Unusable, global::Global, progress::ProgressDisplay};

/// What each command about plugins works on.
pub(super) struct Installation {
    pub(super) configuration: Configuration,
    /// The file of it, which may not be there.
    pub(super) file: PathBuf,
    pub(super) data: PathBuf,
    pub(super) added: AddedPlugins,
    pub(super) json: bool,
    pub(super) progress: ProgressDisplay,
}

impl Installation {
    pub(super) fn find(global: &Global, json: bool) -> Result<Self> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let file = global.configuration_target()?;
        Ok(Self { added: AddedPlugins::of(&data), configuration, file, data, json, progress: global.progress() })
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
