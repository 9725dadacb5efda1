//! The operator's changes of plugins by the routes of a host: the same as by `wharf plugin`.

use anyhow::{Result, bail};
use wharf::{
    PluginName,
    added::AddedError,
    service::operator::{FoundComponent, PluginChange, PluginChangeReport},
    sources::PluginSource,
};

use super::{
    add::{Add, Update},
    change,
    installation::{Installation, unusable},
    proposal::Proposal,
};
use crate::{exit::Unusable, global::Global, hosts::HostAnswers};

/// What receipts say of plugins that came this way.
const BY: &str = "operator";

/// Makes a change, or says what it would bring.
pub(crate) fn change(global: &Global, change: &PluginChange, is_trial: bool) -> Result<PluginChangeReport> {
    let installation = &Installation::to_change(&global.quietly(), true, false)?;
    match change {
        PluginChange::Add { source, name, digest, pinned, functions } => {
            let digest = digest.as_deref().map(str::parse).transpose()?;
            let name = name.as_deref().map(str::parse).transpose()?;
            let add = Add { source: named(source)?, name, digest, signature: Vec::new(), functions: *functions };
            let mut proposal = Proposal::to_add(add, installation)?;
            proposal.receipt.pinned = *pinned;
            conclude(installation, proposal, is_trial)
        }
        PluginChange::Update { plugin, source, digest, confirm } => {
            let (name, source) = (plugin.parse()?, source.as_deref().map(named).transpose()?);
            let digest = digest.as_deref().map(str::parse).transpose()?;
            let update = Update { name, source, digest, signature: Vec::new(), confirm: *confirm };
            let Some(mut proposal) = Proposal::to_update(&update, installation, is_trial)? else {
                bail!(Unusable(format!("no plugin {plugin} was added, so there is nowhere to fetch it from")));
            };
            // What was pinned stays so; what was not only had to be what was looked at.
            proposal.receipt.pinned = proposal.before.as_ref().is_some_and(|before| before.pinned);
            conclude(installation, proposal, is_trial)
        }
        PluginChange::Remove { plugin } => remove(installation, &plugin.parse()?, is_trial),
    }
}

/// A source as somebody names it who does not see the host's working directory.
fn named(source: &str) -> Result<PluginSource> {
    match source.parse()? {
        PluginSource::File(path) if path.is_relative() => {
            bail!(Unusable(format!("{source} is a file of the host: name it by its whole path")))
        }
        source => Ok(source),
    }
}

fn conclude(installation: &Installation, mut proposal: Proposal, is_trial: bool) -> Result<PluginChangeReport> {
    if !proposal.is_same() {
        proposal.receipt.by = BY.to_owned();
    }
    if !is_trial {
        proposal.apply(installation)?;
        HostAnswers::reload(&installation.data)?;
    }
    let newly_wanted = proposal.newly_wanted().into_iter().map(str::to_owned).collect();
    let Proposal { receipt, before, .. } = proposal;
    Ok(PluginChangeReport {
        plugin: receipt.name.to_string(),
        component: Some(FoundComponent {
            source: receipt.source,
            digest: receipt.digest.to_string(),
            manifest: receipt.manifest,
            signer: receipt.evidence.map(|evidence| evidence.signer.to_string()),
            bytes: receipt.bytes,
            tools: receipt.tools,
            imports: receipt.imports,
            wanted_grants: receipt.wanted_grants,
            newly_wanted,
            grants: receipt.grants,
        }),
        before: before.map(|before| before.digest.to_string()),
        is_done: !is_trial,
    })
}

fn remove(installation: &Installation, name: &PluginName, is_trial: bool) -> Result<PluginChangeReport> {
    let before = installation.added.receipt(name).map_err(|error| unusable(&error))?;
    match is_trial {
        true if before.is_none() => return Err(unusable(&AddedError::Unknown { name: name.clone() })),
        true => {}
        false => {
            change::removed(installation, name)?;
            HostAnswers::reload(&installation.data)?;
        }
    }
    Ok(PluginChangeReport {
        plugin: name.to_string(),
        component: None,
        before: before.map(|before| before.digest.to_string()),
        is_done: !is_trial,
    })
}
