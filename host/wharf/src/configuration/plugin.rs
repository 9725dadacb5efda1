//! `[plugin.NAME]`: one plugin, its component, its limits and what it may use.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value};
use wharf_core::{CallLimits, Digest, Grants, PluginName, ScopeKind, tool::ToolSelection};
use wharf_engine::{ClockResolution, InvalidResolution};
use wharf_trust::PinnedSigner;

use super::{
    limits::WrittenLimits,
    pin::{Confirmed, Pin},
    process, profile,
    request::{self, SecretSettings},
    webview,
};
use crate::bundled;

/// `[plugin.NAME]`, checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PluginSettings {
    /// Whether it is loaded.
    pub enabled: bool,
    /// The component's file; where absent, the bundled one of its name, or one that was
    /// added by command or lies in the folder of plugins.
    pub source: Option<PathBuf>,
    /// The component that the operator confirmed.
    pub digest: Option<Digest>,
    /// The one whose components the operator confirmed.
    pub signer: Option<PinnedSigner>,
    /// What happens to the grants where the component is another one.
    pub pin: Option<Pin>,
    /// Limits of its calls.
    pub limits: CallLimits,
    /// The steps in which it sees time go on; as fine as the system's where there is none.
    pub clock_resolution: Option<ClockResolution>,
    /// What it may use; for a bundled plugin the bundled grants where absent.
    pub grants: Option<Grants>,
    /// What the scope `default` of its state means; the session where absent.
    pub default_scope: Option<ScopeKind>,
    /// What it is told by its `settings` interface: a JSON object.
    pub settings: Value,
    /// What the host adds to its requests.
    pub secrets: Vec<SecretSettings>,
    /// Whether its tools are listed as `plugin__tool`. Without, they have their own
    /// names, as one server of that plugin alone would list them.
    pub prefix: bool,
    /// Which of its tools are listed and can be called, by their own names.
    pub tools: ToolSelection,
    /// Whether each function that its component exports is a tool, for components that were made
    /// for other hosts.
    pub functions: bool,
}

impl PluginSettings {
    /// To what its grants are bound: what is written, or the confirmed signer or digest where there is
    /// one.
    pub(crate) fn effective_pin(&self) -> Option<Pin> {
        self.pin.or(self.signer.as_ref().map(|_| Pin::Signer)).or(self.digest.map(|_| Pin::Digest))
    }

    /// What was confirmed: the signer where one is written, unless the pin is to the digest.
    pub(crate) fn confirmed(&self) -> Option<Confirmed> {
        let signer = self.signer.clone().filter(|_| self.pin != Some(Pin::Digest)).map(Confirmed::Signer);
        let digest = self.digest.filter(|_| self.pin != Some(Pin::Signer)).map(Confirmed::Component);
        signer.or(digest)
    }

    /// A plugin of which the configuration says nothing.
    pub(crate) fn unwritten(limits: CallLimits) -> Self {
        let settings = Value::Object(Map::new());
        Self {
            enabled: true,
            source: None,
            digest: None,
            signer: None,
            pin: None,
            limits,
            clock_resolution: None,
            grants: None,
            default_scope: None,
            settings,
            secrets: Vec::new(),
            prefix: true,
            tools: ToolSelection::default(),
            functions: false,
        }
    }
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPlugin {
    /// Whether it is loaded.
    #[serde(default = "yes")]
    enabled: bool,
    /// The component's file; without one, the plugin of this name that is part
    /// of the binary.
    source: Option<PathBuf>,
    /// The component that the operator confirmed: `wharf grant NAME --confirm`
    /// writes it.
    digest: Option<Digest>,
    /// The one whose components the operator confirmed: `wharf grant NAME --confirm --pin signer` writes it. `*` in an
    /// identity stands for what changes from release to release.
    #[schemars(with = "Option<String>")]
    signer: Option<PinnedSigner>,
    /// What becomes of the grants where the component is another one.
    pin: Option<Pin>,
    /// Limits of its calls.
    #[serde(default)]
    #[schemars(schema_with = "super::limits::of_calls")]
    limits: WrittenLimits,
    /// How far apart the times are that it reads: its clocks, its waits, the times of its files and the time that
    /// its call has left go on in steps of so many microseconds. 0 leaves them as fine as the system has them.
    #[serde(default)]
    #[schemars(range(max = ClockResolution::MAX_MICROSECONDS))]
    clock_resolution_microseconds: u64,
    /// What it may use; nothing where absent, or what a bundled plugin has.
    grants: Option<Grants>,
    /// What the scope `default` of its state means; the session where absent.
    default_scope: Option<ScopeKind>,
    /// What it is told by its `settings` interface.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    settings: toml::Table,
    /// What the host adds to its requests, by name. It never sees them.
    #[serde(default)]
    secrets: BTreeMap<String, request::WrittenSecret>,
    /// Whether its tools are listed as `plugin__tool`; `false` lists them under their
    /// own names.
    #[serde(default = "yes")]
    prefix: bool,
    /// Patterns of its tools that are listed and can be called, by their own names: `*` stands for any text, `?` for
    /// one character. All where absent.
    tools: Option<Vec<String>>,
    /// Patterns of its tools that are neither listed nor called.
    #[serde(default)]
    skip_tools: Vec<String>,
    /// Whether each function that the component exports is a tool, instead of those that it lists by the contract of
    /// wharf: for components that were made for other hosts. Its settings are the variables of its environment.
    #[serde(default)]
    functions: bool,
}

/// Bytes of a plugin's settings as JSON; the contract says so.
const MAX_SETTINGS_BYTES: usize = 64 << 10;

fn yes() -> bool {
    true
}

impl WrittenPlugin {
    /// `host` is no plugin: what HTTP routes open themselves belongs to it.
    pub(super) fn grants_of_host(self, base: &Path) -> Result<Grants, String> {
        let name = PluginName::host();
        let Self {
            enabled, source, digest, signer, pin, limits, grants, default_scope, settings, secrets, prefix, ..
        } = self;
        let selects = self.tools.is_some() || !self.skip_tools.is_empty() || self.functions;
        let has_clock = self.clock_resolution_microseconds != 0;
        let says_more = selects
            || has_clock
            || !(enabled && prefix)
            || source.is_some()
            || digest.is_some()
            || signer.is_some()
            || pin.is_some()
            || default_scope.is_some();
        if says_more || !limits.is_empty() || !settings.is_empty() || !secrets.is_empty() {
            return Err(format!("[plugin.{name}] stands for the host itself, and has nothing but `grants`"));
        }
        checked_grants(&name, grants.unwrap_or_default(), base)
    }

    pub(super) fn check(
        self,
        name: &PluginName,
        of_all: &WrittenLimits,
        ceilings: &CallLimits,
        base: &Path,
    ) -> Result<PluginSettings, String> {
        let bundled = bundled::find(name.as_str());
        let mut limits = CallLimits::default();
        of_all.apply("limits", |limit, value| limits.set(limit, value))?;
        if let Some(bundled) = bundled.filter(|_| self.source.is_none()) {
            profile::raise_limits(bundled.name, &mut limits, |limit| of_all.names(limit));
        }
        let mut limits = limits.at_most(ceilings);
        self.limits.apply_to_calls(&format!("plugin.{name}.limits"), &mut limits, ceilings)?;
        let grants = self.grants.map(|grants| checked_grants(name, grants, base)).transpose()?;
        let settings = serde_json::to_value(self.settings)
            .map_err(|error| format!("[plugin.{name}.settings] has no form in JSON: {error}"))?;
        let bytes = settings.to_string().len();
        if bytes > MAX_SETTINGS_BYTES {
            return Err(format!("[plugin.{name}.settings] has {bytes} bytes as JSON, more than {MAX_SETTINGS_BYTES}"));
        }
        if self.pin == Some(Pin::Signer) && self.signer.is_none() {
            return Err(format!(
                "[plugin.{name}] has `pin = \"signer\"` and no `signer`: `wharf grant {name} --confirm --pin signer` writes \
                 both"
            ));
        }
        Ok(PluginSettings {
            enabled: self.enabled,
            source: self.source.map(|source| base.join(source)),
            digest: self.digest,
            signer: self.signer,
            pin: self.pin,
            limits,
            clock_resolution: clock_resolution(self.clock_resolution_microseconds)
                .map_err(|error| format!("[plugin.{name}] `clock_resolution_microseconds` {error}"))?,
            grants,
            default_scope: self.default_scope,
            settings,
            secrets: request::secrets(name, self.secrets, base)?,
            prefix: self.prefix,
            functions: self.functions,
            tools: ToolSelection::new(self.tools, self.skip_tools)
                .map_err(|error| format!("[plugin.{name}] selects no tools: {error}"))?,
        })
    }
}

/// The step of a plugin's clocks as it is written, where 0 stands for none.
fn clock_resolution(microseconds: u64) -> Result<Option<ClockResolution>, InvalidResolution> {
    match microseconds {
        0 => Ok(None),
        _ => ClockResolution::from_microseconds(microseconds).map(Some),
    }
}

/// What a table grants, its paths made absolute.
fn checked_grants(name: &PluginName, grants: Grants, base: &Path) -> Result<Grants, String> {
    for (capability, reason) in reasons(&grants) {
        if reason.trim().is_empty() {
            return Err(format!("[plugin.{name}.grants.{capability}] needs a `reason` that says why"));
        }
    }
    process::check_grants(name, &grants)?;
    request::check_grant(name, &grants)?;
    webview::check_grant(name, &grants)?;
    Ok(process::with_absolute_paths(grants, base))
}

/// The reason given for each granted capability.
fn reasons(grants: &Grants) -> impl Iterator<Item = (&'static str, &str)> {
    let state = grants.state.as_ref().map(|grant| ("state", grant.reason.as_str()));
    let events = grants.events.as_ref().map(|grant| ("events", grant.reason.as_str()));
    let process = grants.process.as_ref().map(|grant| ("process", grant.children.reason.as_str()));
    let workspace = grants.workspace.as_ref().map(|grant| ("workspace", grant.reason.as_str()));
    let terminal = grants.terminal.as_ref().map(|grant| ("terminal", grant.reason.as_str()));
    let webview = grants.webview.as_ref().map(|grant| ("webview", grant.reason.as_str()));
    let http = grants.http.as_ref().map(|grant| ("http", grant.reason.as_str()));
    state.into_iter().chain(events).chain(process).chain(terminal).chain(webview).chain(workspace).chain(http)
}

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_plugins_limits_start_from_those_of_all_plugins() {
        let configuration =
            parse("[limits]\noutput_bytes = 500\n[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.limits]\nhost_calls = 7")
                .expect("parses");
        let plugin = &configuration.plugins[&"x".parse::<PluginName>().expect("legal")];
        assert_eq!((plugin.limits.output_bytes, plugin.limits.host_calls), (500, 7));
        assert_eq!(plugin.source.as_deref(), Some(Path::new("/etc/wharf/x.wasm")));
    }

    #[test]
    fn the_step_of_a_plugins_clocks_has_bounds() {
        let of_x = |microseconds: &str| {
            let text = format!("[plugin.x]\nsource = \"x.wasm\"\nclock_resolution_microseconds = {microseconds}");
            Ok::<_, String>(parse(&text)?.plugins[&"x".parse::<PluginName>().expect("legal")].clock_resolution)
        };
        assert_eq!(of_x("0"), Ok(None));
        assert_eq!(of_x("1000000"), Ok(ClockResolution::from_microseconds(1_000_000).ok()));
        let told = of_x("1000001").expect_err("more than a second");
        assert!(told.contains("[plugin.x] `clock_resolution_microseconds` must be from 1 to 1000000"), "{told}");
        of_x("-1").expect_err("no number of microseconds");
        parse("[plugin.host]\nclock_resolution_microseconds = 5").expect_err("the host's own routes read no clock");
    }

    #[test]
    fn a_grant_needs_a_reason() {
        let problem =
            parse("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.state]\nreason = \" \"").expect_err("blank");
        assert!(problem.contains("reason"), "{problem}");
        // A plugin that is added by command has no file here.
        parse("[plugin.x]\n[plugin.x.grants.state]\nreason = \"counts\"").expect("accepted");
    }
}
