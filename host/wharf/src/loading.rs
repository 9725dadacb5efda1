//! From what the operator wants to plugins that can be called: the bundled ones, those
//! of `wharf.toml`, those that were added by command, and those of a folder.
//!
//! Reads and compiles; takes no lock of the host, so that it serves meanwhile.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use wharf_core::text::with_causes;
use wharf_core::{Digest, Grants, PluginName};
use wharf_engine::{Component, Engine, Plugin, PluginPolicy};
use wharf_files::regular_file;

use crate::{
    added::{AddedPlugins, InstalledSet},
    bundled::{self, Bundled},
    configuration::{ComponentPlace, Configuration, EffectiveGrants, PluginSettings, Profile, read_secrets},
    denied::DenyList,
    folder::{self, FolderPlugin},
    installed::{Compiling, Installed, Off, Origin},
    registry::{Disabled, Plugins, REFUSED},
    reserved_name,
    unknown_table::{self, UnknownTable},
    vetting::{SourcedComponent, Vetted},
};

/// Checks that each pattern of `tools` and `skip_tools` matches a tool of the plugin.
pub(crate) fn check_selection(plugin: &Plugin, settings: &PluginSettings) -> Result<(), String> {
    let names = plugin.tools().iter().map(|tool| tool.definition.name.as_str());
    let checked = settings.tools.check(names);
    checked.map_err(|error| format!("`tools` or `skip_tools` of [plugin.{}]: {error}", plugin.name()))
}

/// What becomes of a component of which nothing is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uncompiled {
    /// It is compiled at once.
    Compile,
    /// It is listed as one that is being compiled.
    List,
}

/// What compiling a component has brought.
pub(crate) struct CompiledPlugin {
    pub(crate) digest: Digest,
    /// The plugin, ready for its first call, or why there is none.
    pub(crate) outcome: Result<Plugin, String>,
    pub(crate) took: Duration,
}

/// A plugin that was looked at.
enum Loaded {
    Plugin(Box<Installed>),
    Uncompiled(Compiling),
}

/// All that decides which plugins there are.
pub(crate) struct PluginLoader<'l> {
    pub(crate) engine: &'l Engine,
    pub(crate) configuration: &'l Configuration,
    /// What was added by command, and what is switched off.
    pub(crate) set: InstalledSet,
    pub(crate) added: Option<&'l AddedPlugins>,
    /// What must not run.
    pub(crate) denied: DenyList,
    /// What lies in the folder.
    pub(crate) found: Vec<FolderPlugin>,
    /// What there is already: the same component is not loaded again. With it, what is
    /// new is prepared for its first call, for which nobody then waits.
    pub(crate) present: Option<&'l Plugins>,
    pub(crate) uncompiled: Uncompiled,
    /// What was just compiled of the one plugin that is looked for.
    pub(crate) compiled: Option<&'l CompiledPlugin>,
}

/// A plugin that is wanted, and where its component is.
struct PluginCandidate {
    name: PluginName,
    from: ComponentSource,
}

enum ComponentSource {
    Bundled(&'static Bundled),
    File(PathBuf),
    Added(Digest),
    Folder(FolderPlugin),
}

impl ComponentSource {
    fn origin(&self) -> Origin {
        match self {
            Self::Bundled(_) => Origin::Bundled,
            Self::File(file) => Origin::Configuration { file: file.clone() },
            Self::Added(_) => Origin::Added,
            Self::Folder(found) => Origin::Folder { file: found.file.clone() },
        }
    }
}

impl PluginLoader<'_> {
    /// Loads them all. Of two of one name the first counts: the bundled ones and those
    /// of `wharf.toml`, then what was added, then the folder.
    pub(crate) fn all(self) -> Plugins {
        let mut plugins = Plugins::default();
        let mut names = BTreeSet::new();
        for PluginCandidate { name, from } in self.wanted() {
            let is_first = names.insert(name.clone());
            if let Some(reason) = reserved_name::reason(&name) {
                plugins.reject(name, reason.to_owned());
            } else if is_first {
                self.one(&mut plugins, name, from);
            } else {
                let reason = match from {
                    ComponentSource::Added(_) => {
                        format!("another plugin has its name: take that one away, or `wharf plugin remove {name}`")
                    }
                    from => format!("another plugin has its name: rename {}", from.origin()),
                };
                plugins.reject(name, reason);
            }
        }
        for UnknownTable { name, reason, is_misspelt } in unknown_table::tables(self.configuration, &names) {
            if is_misspelt && plugins.misspelt.is_none() {
                plugins.misspelt = Some(format!("[plugin.{name}]: {reason}"));
            }
            plugins.reject(name, reason);
        }
        plugins
    }

    /// Loads the plugin of this name alone: nothing where none is wanted any more.
    pub(crate) fn only(self, name: &PluginName) -> Plugins {
        let mut plugins = Plugins::default();
        if let Some(PluginCandidate { name, from }) = self.find(name) {
            self.one(&mut plugins, name, from);
        }
        plugins
    }

    /// The component of this name, to be compiled: nothing where none is wanted any more, or it cannot be read
    /// or must not be loaded.
    pub(crate) fn component(&self, name: &PluginName) -> Option<Component> {
        let (sourced, _) = self.vetted(name, &self.find(name)?.from).ok()?;
        Some(sourced.component.with_functions(self.has_functions(name, &self.configuration.settings_of(name))))
    }

    fn find(&self, name: &PluginName) -> Option<PluginCandidate> {
        self.wanted().into_iter().find(|candidate| candidate.name == *name)
    }

    fn wanted(&self) -> Vec<PluginCandidate> {
        let written = self.configuration.plugins.iter().filter_map(|(name, settings)| {
            let from = settings.source.clone().map(ComponentSource::File);
            let from = from.or_else(|| bundled::find(name.as_str()).map(ComponentSource::Bundled))?;
            Some((name.clone(), from))
        });
        let unwritten = bundled::PLUGINS.iter().filter_map(|bundled| {
            let name = bundled.name.parse::<PluginName>().ok()?;
            (!self.configuration.plugins.contains_key(&name)).then_some((name, ComponentSource::Bundled(bundled)))
        });
        let mut first: Vec<_> = written.chain(unwritten).collect();
        first.sort_by(|(one, _), (other, _)| one.cmp(other));
        let added = self.set.plugins.iter().map(|(name, digest)| (name.clone(), ComponentSource::Added(*digest)));
        let found = self.found.iter().map(|found| (found.name.clone(), ComponentSource::Folder(found.clone())));
        first.into_iter().chain(added).chain(found).map(|(name, from)| PluginCandidate { name, from }).collect()
    }

    fn one(&self, plugins: &mut Plugins, name: PluginName, from: ComponentSource) {
        let settings = self.configuration.settings_of(&name);
        if !settings.enabled || self.set.disabled.contains(&name) {
            let by_configuration = !settings.enabled;
            plugins.disabled.push(Disabled { name, origin: from.origin(), by_configuration, kept: None });
            return;
        }
        let grants = self.configuration.grants(&name, &settings);
        if is_useless(&name, &settings, &grants) {
            plugins.off.push(Off { developer: would_help(&name, &settings), name });
            return;
        }
        if let ComponentSource::Folder(found) = &from {
            if let Some(problem) = &found.problem {
                plugins.reject(name, problem.clone());
                return;
            }
            if !found.is_settled {
                // The file is not whole; what was there before goes on.
                if let Some(present) = self.present.and_then(|present| present.find(&name)) {
                    plugins.add(present.clone());
                }
                plugins.compiling.extend(self.present.and_then(|present| present.compiling(&name)).cloned());
                return;
            }
        }
        match self.load(&name, &from, settings) {
            Ok(Loaded::Plugin(plugin)) => plugins.add(*plugin),
            Ok(Loaded::Uncompiled(compiling)) => plugins.compiling.push(compiling),
            Err(reason) => plugins.reject(name, reason),
        }
    }

    fn load(&self, name: &PluginName, from: &ComponentSource, settings: PluginSettings) -> Result<Loaded, String> {
        let began = Instant::now();
        let (sourced, vetted) = self.vetted(name, from)?;
        let component = sourced.component.with_functions(self.has_functions(name, &settings));
        let digest = component.digest();
        let EffectiveGrants { mut grants, withheld, warnings } = self
            .configuration
            .effective_grants(name, &settings, vetted.known(digest))
            .map_err(|error| error.to_string())?;
        if withheld.is_none() {
            grants.secrets = read_secrets(name, &settings.secrets).map_err(|error| error.to_string())?;
        }
        let Some((plugin, took)) = self.plugin(name, component, began)? else {
            let patience = settings.limits.wall_time(None).time;
            let (name, origin) = (name.clone(), from.origin());
            return Ok(Loaded::Uncompiled(Compiling { name, origin, digest, prefix: settings.prefix, patience }));
        };
        check_selection(&plugin, &settings)?;
        for warning in warnings {
            match &withheld {
                Some(_) => tracing::warn!(target: REFUSED, plugin = %name, "{warning}"),
                None => tracing::warn!(plugin = %name, "{warning}"),
            }
        }
        Ok(Loaded::Plugin(Box::new(Installed {
            plugin,
            origin: from.origin(),
            policy: Arc::new(PluginPolicy {
                grants: Arc::new(grants),
                limits: Arc::new(settings.limits),
                settings: settings.settings.to_string().into(),
                clock_resolution: settings.clock_resolution,
            }),
            withheld,
            evidence: vetted.evidence.into_iter().next(),
            prefix: settings.prefix,
            tools: settings.tools,
            took,
        })))
    }

    /// The plugin of a component, and how long it took to make it; nothing while it is compiled.
    fn plugin(
        &self,
        name: &PluginName,
        component: Component,
        began: Instant,
    ) -> Result<Option<(Plugin, Duration)>, String> {
        let digest = component.digest();
        if let Some(present) = self.present.and_then(|present| present.find(name))
            && present.plugin.is_of(&component)
        {
            return Ok(Some((present.plugin.clone(), Duration::ZERO)));
        }
        if let Some(CompiledPlugin { outcome, took, .. }) = self.compiled.filter(|compiled| compiled.digest == digest) {
            let plugin = outcome.clone()?;
            if plugin.is_of(&component) {
                return Ok(Some((plugin, *took)));
            }
        }
        let compiling = self.present.and_then(|present| present.compiling(name));
        if compiling.is_some_and(|compiling| compiling.digest == digest) {
            return Ok(None);
        }
        let loaded = match self.uncompiled {
            Uncompiled::Compile => self.engine.load(name.clone(), component).map(Some),
            Uncompiled::List => self.engine.load_compiled(name.clone(), component),
        };
        let Some(plugin) = loaded.map_err(|error| with_causes(&error))? else { return Ok(None) };
        if self.present.is_some() {
            plugin.prepare().map_err(|error| with_causes(&error))?;
        }
        Ok(Some((plugin, began.elapsed())))
    }

    /// Whether each function of its component is a tool: by the configuration, or since it was added so.
    fn has_functions(&self, name: &PluginName, settings: &PluginSettings) -> bool {
        settings.functions || self.set.functions.contains(name)
    }

    /// A component that may be loaded, and who signed it.
    fn vetted(&self, name: &PluginName, from: &ComponentSource) -> Result<(SourcedComponent, Vetted), String> {
        let sourced = self.read(name, from)?;
        let vetted = self.configuration.vet(name, &sourced, &self.denied).map_err(|error| error.to_string())?;
        Ok((sourced, vetted))
    }

    fn read(&self, name: &PluginName, from: &ComponentSource) -> Result<SourcedComponent, String> {
        let limit = self.configuration.host_limits.component_bytes;
        Ok(match from {
            ComponentSource::Bundled(bundled) => SourcedComponent::bundled(bundled.component()),
            ComponentSource::File(file) => {
                let bytes = regular_file::read(file, limit).map_err(|error| cannot_read(file, &error))?;
                SourcedComponent::of_file(Component::new(bytes), ComponentPlace::File, file)
            }
            ComponentSource::Folder(found) => {
                let bytes = folder::read(&found.file, limit).map_err(|error| cannot_read(&found.file, &error))?;
                SourcedComponent::of_file(Component::new(bytes), ComponentPlace::Folder, &found.file)
            }
            ComponentSource::Added(digest) => {
                let added = self.added.ok_or_else(|| "the host keeps no data".to_owned())?;
                added.sourced(name, digest, limit).map_err(|error| with_causes(&error))?
            }
        })
    }
}

fn cannot_read(file: &std::path::Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", file.display())
}

/// Whether the profile for developers grants it something.
fn would_help(name: &PluginName, settings: &PluginSettings) -> bool {
    let granted = bundled::find(name.as_str()).map(|bundled| Profile::Developer.grants(bundled.name));
    settings.grants.is_none() && granted.is_some_and(|grants| grants != Grants::default())
}

/// Whether a plugin is a bundled one that was granted nothing: it is off then, instead of
/// refusing every call.
fn is_useless(name: &PluginName, settings: &PluginSettings, grants: &Grants) -> bool {
    settings.source.is_none() && bundled::find(name.as_str()).is_some() && *grants == Grants::default()
}
