//! What became of each plugin, for the operator.

use serde::Serialize;
use wharf_core::{Digest, PluginName};
use wharf_trust::Evidence;

use crate::{configuration::granted_names, installed::Installed, registry::Plugins};

/// What became of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PluginState {
    /// It can be called.
    Serving,
    /// It is being compiled, or waits for that, and will be served then.
    Compiling,
    /// It could not be loaded.
    Rejected,
    /// It is part of this binary and can do nothing with what it is granted.
    Off,
    /// It is switched off.
    Disabled,
}

/// A plugin, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PluginStatus {
    /// Its name.
    pub name: PluginName,
    /// What became of it.
    pub state: PluginState,
    /// Why it is not served, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it comes from: `bundled`, `configuration`, `added`, `folder` or `app`, where
    /// that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'static str>,
    /// Names its component, where one is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Who signed that component, of those whom `[plugins] trust` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Size of that component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The names of its tools, as they are listed.
    pub tools: Vec<String>,
    /// Every instance that it imports.
    pub imports: Vec<String>,
    /// The capabilities that it asks for.
    pub wanted_grants: Vec<String>,
    /// The capabilities that it is granted.
    pub grants: Vec<String>,
    /// Why it has none of those that are written, where that is so: its component has
    /// changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

impl PluginStatus {
    fn without_component(name: &PluginName, state: PluginState, reason: Option<String>) -> Self {
        let (origin, digest, evidence, bytes, withheld) = (None, None, None, None, None);
        let (tools, imports, wanted_grants, grants) = Default::default();
        Self {
            name: name.clone(),
            state,
            reason,
            origin,
            digest,
            evidence,
            bytes,
            tools,
            imports,
            wanted_grants,
            grants,
            withheld,
        }
    }
}

fn serving(installed: &Installed) -> PluginStatus {
    let inspection = installed.plugin.inspect();
    PluginStatus {
        name: installed.plugin.name().clone(),
        state: PluginState::Serving,
        reason: None,
        origin: Some(installed.origin.as_str()),
        digest: Some(inspection.digest),
        evidence: installed.evidence.clone(),
        bytes: Some(inspection.bytes),
        tools: inspection.tools.iter().map(|tool| installed.listed_name(&tool.name)).collect(),
        wanted_grants: inspection.wanted_grants().into_iter().map(str::to_owned).collect(),
        grants: granted_names(&installed.policy.grants),
        withheld: installed.withheld.as_ref().map(ToString::to_string),
        imports: inspection.imports,
    }
}

pub(super) fn of_all(plugins: &Plugins) -> Vec<PluginStatus> {
    let rejected = plugins.rejected.iter().map(|rejected| {
        PluginStatus::without_component(&rejected.name, PluginState::Rejected, Some(rejected.reason.clone()))
    });
    let off = plugins.off.iter().map(|off| {
        let reason = match off.developer {
            true => "nothing is granted to it; grant it something in wharf.toml, or use --profile developer",
            false => "nothing is granted to it; grant it something in wharf.toml",
        };
        let status = PluginStatus::without_component(&off.name, PluginState::Off, Some(reason.to_owned()));
        PluginStatus { origin: Some("bundled"), ..status }
    });
    let disabled = plugins.disabled.iter().map(|disabled| {
        let status = PluginStatus::without_component(&disabled.name, PluginState::Disabled, Some(disabled.reason()));
        PluginStatus { origin: Some(disabled.origin.as_str()), ..status }
    });
    let compiling = plugins.compiling.iter().map(|compiling| {
        let reason = "its component is compiled, once for all hosts on the data directory; it is served then";
        let status = PluginStatus::without_component(&compiling.name, PluginState::Compiling, Some(reason.to_owned()));
        PluginStatus { origin: Some(compiling.origin.as_str()), digest: Some(compiling.digest), ..status }
    });
    let others = rejected.chain(off).chain(disabled).chain(compiling);
    let mut all: Vec<_> = plugins.installed.iter().map(serving).chain(others).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}
