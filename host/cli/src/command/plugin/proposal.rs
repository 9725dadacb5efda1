//! A plugin that is to be added or replaced: fetched and inspected, and nothing changed yet.

use std::{io, path::PathBuf};

use anyhow::{Result, bail};
use wharf::{
    PluginName,
    added::{AddedError, InstalledChange, Receipt},
    component::{Component, Inspection},
    configuration::KnownComponent,
    confinement::is_confined,
    materials::FoundMaterials,
    sources::{FetchError, PluginSource, RegistryLogins},
    trust::{FoundSignatures, SourcedComponent},
    with_causes,
};

use super::{
    add::{Add, Update},
    installation::{Installation, absolute_source, check_digest, unusable},
};
use crate::{command::inspect::Look, configuration_edit::ConfigurationEdit, exit::Unusable, signature::read_signature};

/// What an addition or an update comes to.
pub(super) struct Proposal {
    pub(super) receipt: Receipt,
    /// What is there now, where it was added before.
    pub(super) before: Option<Receipt>,
    component: Vec<u8>,
    /// The configuration in which the component is the confirmed one.
    confirming: Option<ConfigurationEdit>,
}

impl Proposal {
    /// The component of an addition.
    pub(super) fn to_add(add: Add, installation: &Installation) -> Result<Self> {
        let source = absolute_source(add.source)?;
        let name = match add.name {
            Some(name) => name,
            None => named_after(&source)?,
        };
        installation.configuration.may_add(&name).map_err(|error| unusable(&error))?;
        if installation.added.list().map_err(|error| unusable(&error))?.contains_key(&name) {
            return Err(unusable(&AddedError::Taken { name }));
        }
        let FetchedPlugin { sourced, manifest } = fetch(installation, &source, &add.signature)?;
        check_digest(sourced.component.digest(), add.digest)?;
        let vetted = installation.vet(&name, &sourced)?;
        let materials = materials(installation, &source, &sourced.component, manifest.as_deref());
        let component = sourced.component.with_functions(add.functions);
        let bytes = component.bytes().into_owned();
        let inspection = inspect(installation, &name, &source, component)?;
        let mut receipt = Receipt::new(name, source.to_string(), (&inspection, &vetted), &installation.configuration);
        receipt.functions = add.functions;
        receipt.manifest = manifest;
        receipt.signatures = sourced.found;
        receipt.materials = materials;
        receipt.pinned = add.digest.is_some();
        Ok(Self { receipt, before: None, component: bytes, confirming: None })
    }

    /// The component of an update; nothing where the plugin was not added. A trial shows what has come in the
    /// place of a component whose digest was named, too.
    pub(super) fn to_update(update: &Update, installation: &Installation, is_trial: bool) -> Result<Option<Self>> {
        let name = &update.name;
        let Some(before) = installation.added.receipt(name).map_err(|error| unusable(&error))? else {
            return Ok(None);
        };
        let source = match update.source.clone() {
            Some(source) => absolute_source(source)?,
            None => before.source.parse()?,
        };
        let FetchedPlugin { sourced, manifest } = fetch(installation, &source, &update.signature)?;
        let vetted = installation.vet(name, &sourced)?;
        check_digest(sourced.component.digest(), update.digest)?;
        let materials = materials(installation, &source, &sourced.component, manifest.as_deref());
        let component = sourced.component.with_functions(before.functions);
        let (digest, bytes) = (component.digest(), component.bytes().into_owned());
        let known = vetted.known(digest);
        let confirming = update.confirm.then(|| confirming(installation, name, known)).transpose()?.flatten();
        if digest == before.digest {
            // Where it lies now is where the next update looks.
            let mut receipt = before.clone();
            (receipt.source, receipt.manifest) = (source.to_string(), manifest);
            (receipt.evidence, receipt.signatures) = (vetted.evidence.into_iter().next(), sourced.found);
            receipt.materials = materials;
            return Ok(Some(Self { receipt, before: Some(before), component: bytes, confirming }));
        }
        if before.pinned && update.digest.is_none() && !is_trial {
            bail!(Unusable(format!(
                "{name} was added with its digest named, and what is there now is {digest}; say so with `--digest \
                 {digest}`, if that is what you want. Nothing was changed"
            )));
        }
        let inspection = inspect(installation, name, &source, component)?;
        let configuration = confirming.as_ref().map(ConfigurationEdit::check).transpose();
        let configuration = configuration.map_err(|error| unusable(&error))?;
        let configuration = configuration.as_ref().unwrap_or(&installation.configuration);
        let mut receipt = Receipt::new(name.clone(), source.to_string(), (&inspection, &vetted), configuration);
        receipt.manifest = manifest;
        receipt.signatures = sourced.found;
        receipt.materials = materials;
        receipt.pinned = update.digest.is_some();
        receipt.replaced = Some(before.digest);
        receipt.functions = before.functions;
        Ok(Some(Self { receipt, before: Some(before), component: bytes, confirming }))
    }

    /// Whether the component is the one that is there.
    pub(super) fn is_same(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.digest == self.receipt.digest)
    }

    /// The capabilities that the component asks for, and the one before did not.
    pub(super) fn newly_wanted(&self) -> Vec<&str> {
        let before = self.before.as_ref().map(|before| before.wanted_grants.as_slice()).unwrap_or_default();
        self.receipt.wanted_grants.iter().filter(|asked| !before.contains(asked)).map(String::as_str).collect()
    }

    /// Makes it so; hosts are to be told.
    pub(super) fn apply(&self, installation: &Installation) -> Result<()> {
        let Self { receipt, component, .. } = self;
        match &self.before {
            None => drop(installation.apply(InstalledChange::Add { receipt, component })?),
            Some(before) if before == receipt => {}
            Some(_) => drop(installation.apply(InstalledChange::Replace { receipt, component })?),
        }
        // Hosts read both when they are told.
        self.confirming.as_ref().map(ConfigurationEdit::save).transpose().map_err(|error| unusable(&error))?;
        Ok(())
    }
}

/// The configuration in which this component is the confirmed one; nothing where no
/// grants are written for the plugin.
fn confirming(
    installation: &Installation,
    name: &PluginName,
    component: KnownComponent<'_>,
) -> Result<Option<ConfigurationEdit>> {
    if !installation.configuration.plugins.contains_key(name) {
        return Ok(None);
    }
    let mut edit = installation.edit(name).map_err(|error| unusable(&error))?;
    let settings = installation.configuration.settings_of(name);
    edit.confirm(name, &settings, component, None).map_err(|error| unusable(&error))?;
    Ok(Some(edit))
}

fn named_after(source: &PluginSource) -> Result<PluginName> {
    let stem = source.stem().unwrap_or_default();
    stem.parse().map_err(|error| {
        Unusable(format!("{source} does not say what the plugin is called ({error}); say it with --name NAME")).into()
    })
}

/// A component that was fetched, and nothing of it looked at.
struct FetchedPlugin {
    sourced: SourcedComponent,
    /// The digest of its manifest, from a registry.
    manifest: Option<String>,
}

/// Why a host that serves may not read a file, and what to do.
const OUT_OF_REACH: &str = "this host is confined to what its configuration names: place the file beside wharf.toml, or \
     use `wharf plugin`, which is not confined";

/// Fetches a component, and its signatures where somebody is trusted to have signed it.
fn fetch(installation: &Installation, source: &PluginSource, signatures: &[PathBuf]) -> Result<FetchedPlugin> {
    let fetching = installation.progress.step(format!("fetching {source}"));
    let logins = RegistryLogins::of_docker();
    let limit = installation.configuration.host_limits.component_bytes;
    let fetched = source.fetch(limit, &logins, &mut |bytes| fetching.came(bytes));
    drop(fetching);
    let fetched = fetched.map_err(|error| match &error {
        FetchError::File { source, .. } if is_confined() && source.kind() == io::ErrorKind::PermissionDenied => {
            Unusable(format!("{}; {OUT_OF_REACH}", with_causes(&error))).into()
        }
        _ => unusable(&error),
    })?;
    let mut found = FoundSignatures::default();
    if !installation.configuration.trust.policy.trusts_nobody() {
        let _looking = installation.progress.step("looking for its signatures");
        let signatures = source.signatures(fetched.manifest.as_deref(), &logins);
        found = FoundSignatures::from(signatures.map_err(|error| unusable(&error))?);
    }
    for file in signatures {
        found.signatures.push(read_signature(file).map_err(|error| Unusable(format!("{error:#}")))?);
    }
    let component = Component::new(fetched.component);
    let sourced = SourcedComponent { component, place: Some(source.into()), found };
    Ok(FetchedPlugin { sourced, manifest: fetched.manifest })
}

/// What is said of a component that may be added, where it came from.
fn materials(
    installation: &Installation,
    source: &PluginSource,
    component: &Component,
    manifest: Option<&str>,
) -> FoundMaterials {
    let _looking = installation.progress.step("looking for what it is made of");
    let subject = (component, &installation.configuration.trust.policy);
    FoundMaterials::fetched(source, manifest, &RegistryLogins::of_docker(), subject)
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
