//! `wharf plugin add` and `wharf plugin update`: fetch, inspect, keep, tell.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use wharf::{
    Digest, PluginName,
    added::{AddedError, InstalledChange, Receipt},
    component::{Component, Inspection},
    sources::{PluginSource, RegistryLogins},
};

use super::{
    change,
    installation::{Installation, absolute_source, check_digest, source, unusable},
    show,
};
use crate::{command::inspect::Look, configuration_edit::ConfigurationEdit, exit::Unusable, hosts::HostAnswers};

#[derive(Debug, Args)]
pub(super) struct Add {
    /// A file, an https: address, or oci://REGISTRY/NAME:TAG (or @sha256:HEX)
    #[arg(value_parser = source)]
    source: PluginSource,

    /// What it is called [default: the name of the file without its ending, or the last part of NAME]
    #[arg(long)]
    name: Option<PluginName>,

    /// Accept this component alone, now and at updates
    #[arg(long, value_name = "blake3:HEX")]
    digest: Option<Digest>,

    /// Make a tool of each function that it exports, for a component that was made for another host
    #[arg(long)]
    functions: bool,
}

#[derive(Debug, Args)]
pub(super) struct Update {
    /// Which one
    name: PluginName,

    /// Another file, address or reference than it came from
    #[arg(value_parser = source)]
    source: Option<PluginSource>,

    /// Accept this component alone
    #[arg(long, value_name = "blake3:HEX")]
    digest: Option<Digest>,

    /// Let it have what wharf.toml grants the one before, as `wharf grant NAME --confirm` does
    #[arg(long)]
    confirm: bool,
}

impl Add {
    pub(super) fn run(self, installation: &Installation) -> Result<ExitCode> {
        let source = absolute_source(self.source)?;
        let name = match self.name {
            Some(name) => name,
            None => named_after(&source)?,
        };
        installation.configuration.may_add(&name).map_err(|error| unusable(&error))?;
        if installation.added.list().map_err(|error| unusable(&error))?.contains_key(&name) {
            return Err(unusable(&AddedError::Taken { name }));
        }
        let (component, manifest) = fetch(installation, &source)?;
        check_digest(component.digest(), self.digest)?;
        let component = component.with_functions(self.functions);
        let inspection = inspect(installation, &name, &source, component.clone())?;
        let mut receipt = Receipt::new(name, source.to_string(), &inspection, &installation.configuration);
        receipt.functions = self.functions;
        receipt.manifest = manifest;
        receipt.pinned = self.digest.is_some();
        installation.apply(InstalledChange::Add { receipt: &receipt, component: &component.bytes() })?;
        let hosts = HostAnswers::reload(&installation.data)?;
        if !installation.json {
            println!("Added {}.", receipt.name);
        }
        show::changed(installation, &receipt, &hosts)
    }
}

impl Update {
    pub(super) fn run(self, installation: &Installation) -> Result<ExitCode> {
        let name = &self.name;
        let Some(before) = installation.added.receipt(name).map_err(|error| unusable(&error))? else {
            return self.reread(installation);
        };
        let source = match self.source {
            Some(source) => absolute_source(source)?,
            None => before.source.parse()?,
        };
        let (component, manifest) = fetch(installation, &source)?;
        let component = component.with_functions(before.functions);
        let (digest, bytes) = (component.digest(), component.bytes().into_owned());
        check_digest(digest, self.digest)?;
        let confirming = self.confirm.then(|| confirming(installation, name, digest)).transpose()?.flatten();
        if digest == before.digest {
            // Where it lies now is where the next update looks.
            let mut receipt = before.clone();
            (receipt.source, receipt.manifest) = (source.to_string(), manifest);
            if receipt != before {
                installation.apply(InstalledChange::Replace { receipt: &receipt, component: &bytes })?;
            }
            save(confirming.as_ref())?;
            let hosts = HostAnswers::reload(&installation.data)?;
            if !installation.json {
                println!("{name} is the same component as before.");
            }
            return show::changed(installation, &receipt, &hosts);
        }
        if before.pinned && self.digest.is_none() {
            bail!(Unusable(format!(
                "{name} was added with its digest named, and what is there now is {digest}; say so with `--digest \
                 {digest}`, if that is what you want. Nothing was changed"
            )));
        }
        let inspection = inspect(installation, name, &source, component)?;
        let configuration = confirming.as_ref().map(ConfigurationEdit::check).transpose();
        let configuration = configuration.map_err(|error| unusable(&error))?;
        let configuration = configuration.as_ref().unwrap_or(&installation.configuration);
        let mut receipt = Receipt::new(name.clone(), source.to_string(), &inspection, configuration);
        receipt.manifest = manifest;
        receipt.pinned = self.digest.is_some();
        receipt.replaced = Some(before.digest);
        receipt.functions = before.functions;
        installation.apply(InstalledChange::Replace { receipt: &receipt, component: &bytes })?;
        // Hosts read both when they are told.
        save(confirming.as_ref())?;
        let hosts = HostAnswers::reload(&installation.data)?;
        if !installation.json {
            println!("Replaced {name}.");
            let new: Vec<_> =
                receipt.wanted_grants.iter().filter(|asked| !before.wanted_grants.contains(asked)).collect();
            if !new.is_empty() {
                let new: Vec<_> = new.into_iter().map(String::as_str).collect();
                println!("It asks for more than before: {}.", new.join(", "));
            }
        }
        show::changed(installation, &receipt, &hosts)
    }

    /// A plugin that was not added: running hosts look at its file again.
    fn reread(&self, installation: &Installation) -> Result<ExitCode> {
        let name = &self.name;
        if self.confirm {
            bail!(Unusable(format!(
                "no plugin {name} was added; `wharf grant {name} --confirm` confirms what is there"
            )));
        }
        if self.source.is_some() || self.digest.is_some() {
            bail!(Unusable(format!("no plugin {name} was added; `wharf plugin add SOURCE --name {name}` adds one")));
        }
        let hosts = HostAnswers::reload(&installation.data)?;
        if !hosts.know(name) && !change::is_known(installation, name) {
            return Err(unusable(&AddedError::Unknown { name: name.clone() }));
        }
        show::told(installation, name, &hosts)
    }
}

/// The configuration in which this component is the confirmed one; nothing where no
/// grants are written for the plugin.
fn confirming(installation: &Installation, name: &PluginName, digest: Digest) -> Result<Option<ConfigurationEdit>> {
    if !installation.configuration.plugins.contains_key(name) {
        return Ok(None);
    }
    let mut edit = installation.edit(name).map_err(|error| unusable(&error))?;
    edit.confirm(name, digest).map_err(|error| unusable(&error))?;
    Ok(Some(edit))
}

fn save(edit: Option<&ConfigurationEdit>) -> Result<()> {
    edit.map(ConfigurationEdit::save).transpose().map(|_| ()).map_err(|error| unusable(&error))
}

fn named_after(source: &PluginSource) -> Result<PluginName> {
    let stem = source.stem().unwrap_or_default();
    stem.parse().map_err(|error| {
        Unusable(format!("{source} does not say what the plugin is called ({error}); say it with --name NAME")).into()
    })
}

/// Fetches a component; from a registry, with the digest of its manifest.
fn fetch(installation: &Installation, source: &PluginSource) -> Result<(Component, Option<String>)> {
    let fetching = installation.progress.step(format!("fetching {source}"));
    let limit = installation.configuration.host_limits.component_bytes;
    let fetched = source.fetch(limit, &RegistryLogins::of_docker(), &mut |bytes| fetching.came(bytes));
    drop(fetching);
    let fetched = fetched.map_err(|error| unusable(&error))?;
    Ok((Component::new(fetched.component), fetched.manifest))
}

/// Compiles it and asks it for its tools, with nothing granted. Hosts on the same data
/// directory find the compiled code.
fn inspect(
    installation: &Installation,
    name: &PluginName,
    source: &PluginSource,
    component: Component,
) -> Result<Inspection> {
    Look::beside(&installation.configuration, &installation.data, installation.progress).at(
        name,
        component,
        &source.to_string(),
    )
}
