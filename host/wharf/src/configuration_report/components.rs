//! The plugins that a host would know, and what the components of those say of themselves
//! of which something is written.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use wharf_core::{PluginName, text::with_causes};
use wharf_engine::{Component, Engine, Inspection};
use wharf_files::regular_file;

use crate::{
    added::AddedPlugins,
    bundled,
    configuration::{ComponentPlace, Configuration, PluginSettings},
    configuration_report::finding::{ConfigurationFinding, ConfigurationPart as Part, ConfigurationReport},
    denied::DenyList,
    folder::{Folder, FolderPlugin},
    inspecting::{self, CompileCaches},
    loading::check_selection,
    reserved_name,
    tool_name::full_name,
    vetting::SourcedComponent,
};

/// What a component says of itself.
pub(super) struct PluginFacts {
    /// Its tools, by the names that clients see.
    pub(super) tools: Vec<String>,
    pub(super) inspection: Inspection,
}

/// The plugins that a host would know.
pub(super) struct NamedPlugins {
    pub(super) known: BTreeSet<PluginName>,
    folder: Vec<FolderPlugin>,
}

impl NamedPlugins {
    pub(super) fn find(configuration: &Configuration, data: &Path, checked: &mut ConfigurationReport) -> Self {
        let folder = files_of_folder(configuration, checked);
        let with_source = configuration.plugins.iter().filter(|(_, settings)| settings.source.is_some());
        let mut known: BTreeSet<_> = with_source.map(|(name, _)| name.clone()).chain(bundled::names()).collect();
        match AddedPlugins::of(data).list() {
            Ok(added) => known.extend(added.into_keys()),
            Err(error) => checked.problems.push(Part::Plugin.says(with_causes(&error))),
        }
        known.extend(folder.iter().map(|found| found.name.clone()));
        Self { known, folder }
    }

    /// Loads the components of which something is written, as a host would.
    pub(super) fn load(
        &self,
        configuration: &Configuration,
        data: &Path,
        checked: &mut ConfigurationReport,
    ) -> BTreeMap<PluginName, PluginFacts> {
        let cache = data.join("cache");
        // Where no host has ever been, nothing is made.
        let caches = CompileCaches { code: cache.is_dir().then_some(cache), functions: None };
        let engine = inspecting::engine(configuration.host_limits.clone(), caches);
        let denied = configuration.denied(data);
        let sight = Sight { configuration, data, engine, denied, folder: &self.folder };
        sight.check_folder(checked);
        let all = configuration.names_tools();
        let mut facts = BTreeMap::new();
        for name in &self.known {
            let settings = configuration.settings_of(name);
            if settings.enabled
                && configuration.plugins.contains_key(name)
                && let Some(Ok(sourced)) = sight.component(name, &settings)
            {
                configuration.check_pin(name, &settings, &sourced, checked);
            }
            if !(all || settings.enabled && is_to_be_loaded(&settings)) {
                continue;
            }
            match sight.component(name, &settings).map(|component| sight.facts(name, &settings, component?)) {
                None => {}
                Some(Ok((of_plugin, selection))) => {
                    checked.problems.extend(selection.filter(|_| settings.enabled));
                    facts.insert(name.clone(), of_plugin);
                }
                // The folder's are told there, and nobody asks for one that is off.
                Some(Err(_)) if !settings.enabled || self.is_of_folder(name, &settings) => {}
                Some(Err(problem)) => checked.problems.push(Part::Source.of(name, problem)),
            }
        }
        facts
    }

    fn is_of_folder(&self, name: &PluginName, settings: &PluginSettings) -> bool {
        settings.source.is_none() && self.folder.iter().any(|found| found.name == *name)
    }
}

/// Whether something is written that only the component itself bears out.
fn is_to_be_loaded(settings: &PluginSettings) -> bool {
    settings.source.is_some() || !settings.tools.is_all() || settings.grants.is_some()
}

/// What lies in the folder of plugins.
pub(super) fn files_of_folder(configuration: &Configuration, checked: &mut ConfigurationReport) -> Vec<FolderPlugin> {
    let Some(folder) = &configuration.plugin_folder else { return Vec::new() };
    match fs::read_dir(folder) {
        Ok(_) => Folder::open(folder.clone()).files(),
        Err(error) => {
            let says = format!(
                "[plugins] `folder` {}: {error}; make it, or take the line out of wharf.toml",
                folder.display()
            );
            checked.problems.push(Part::Folder.says(says));
            Vec::new()
        }
    }
}

/// Where components are looked for, and what loads them.
struct Sight<'s> {
    configuration: &'s Configuration,
    data: &'s Path,
    engine: Engine,
    denied: DenyList,
    folder: &'s [FolderPlugin],
}

impl Sight<'_> {
    /// Whether a host would load what lies in the folder of plugins.
    fn check_folder(&self, checked: &mut ConfigurationReport) {
        for found in self.folder {
            let settings = self.configuration.settings_of(&found.name);
            if !settings.enabled {
                continue;
            }
            let what = if let Some(problem) = &found.problem {
                Some(problem.to_string())
            } else if let Some(reason) = reserved_name::reason(&found.name) {
                Some(reason.to_owned())
            } else if self.has_another(&found.name) {
                Some("another plugin has its name; rename the file".to_owned())
            } else {
                let loaded = self.read(&found.file, &settings, ComponentPlace::Folder);
                loaded.and_then(|component| self.facts(&found.name, &settings, component)).err()
            };
            if let Some(what) = what {
                let says = format!("[plugins] `folder` has {}: {what}", found.file.display());
                checked.problems.push(Part::Folder.of(&found.name, says));
            }
        }
    }

    /// Whether a plugin of this name comes before the one of the folder.
    fn has_another(&self, name: &PluginName) -> bool {
        self.configuration.plugins.get(name).is_some_and(|settings| settings.source.is_some())
            || bundled::find(name.as_str()).is_some()
            || AddedPlugins::of(self.data).receipt(name).is_ok_and(|receipt| receipt.is_some())
    }

    /// The component of a plugin, from where a host takes it, or why there is none.
    fn component(&self, name: &PluginName, settings: &PluginSettings) -> Option<Result<SourcedComponent, String>> {
        if let Some(source) = &settings.source {
            let read = self.read(source, settings, ComponentPlace::File);
            return Some(read.map_err(|what| {
                format!("[plugin.{name}] `source` {}: {what}; mend the path, or take the table out", source.display())
            }));
        }
        if let Some(component) = bundled::component(name) {
            return Some(Ok(SourcedComponent::bundled(component)));
        }
        let limit = self.configuration.host_limits.component_bytes;
        match AddedPlugins::of(self.data).component_of(name, limit) {
            Ok(Some(sourced)) => return Some(Ok(sourced.with_functions(settings.functions))),
            Ok(None) => {}
            Err(error) => return Some(Err(format!("plugin {name}: {}", with_causes(&error)))),
        }
        let found = self.folder.iter().find(|found| found.name == *name && found.problem.is_none())?;
        Some(self.read(&found.file, settings, ComponentPlace::Folder))
    }

    fn read(&self, file: &Path, settings: &PluginSettings, place: ComponentPlace) -> Result<SourcedComponent, String> {
        let bytes = regular_file::read(file, self.configuration.host_limits.component_bytes);
        let component = Component::new(bytes.map_err(|error| error.to_string())?).with_functions(settings.functions);
        Ok(SourcedComponent::of_file(component, place, file))
    }

    /// Loads a component as a host would; beside what it says, what is wrong with the patterns of its tools.
    fn facts(
        &self,
        name: &PluginName,
        settings: &PluginSettings,
        sourced: SourcedComponent,
    ) -> Result<(PluginFacts, Option<ConfigurationFinding>), String> {
        let vetted = self.configuration.vet(name, &sourced, &self.denied);
        vetted.map_err(|error| format!("plugin {name}: {error}"))?;
        let plugin = self.engine.load(name.clone(), sourced.component).map_err(|error| match &settings.source {
            Some(source) => format!("[plugin.{name}] `source` {}: {}", source.display(), with_causes(&error)),
            None => format!("plugin {name}: {}", with_causes(&error)),
        })?;
        let selection = check_selection(&plugin, settings).err().map(|what| Part::Tools.of(name, what));
        let listed = |tool: &str| if settings.prefix { full_name(name, tool) } else { tool.to_owned() };
        let tools = plugin.tools().iter().map(|tool| listed(&tool.definition.name)).collect();
        Ok((PluginFacts { tools, inspection: plugin.inspect() }, selection))
    }
}

impl Configuration {
    /// Whether a component is the one that the operator confirmed.
    fn check_pin(
        &self,
        name: &PluginName,
        settings: &PluginSettings,
        sourced: &SourcedComponent,
        checked: &mut ConfigurationReport,
    ) {
        // One that must not be loaded is told with the others of its kind.
        let Ok(vetted) = self.vet(name, sourced, &DenyList::default()) else { return };
        match self.effective_grants(name, settings, vetted.known(sourced.component.digest())) {
            Ok(effective) => {
                let told = effective.warnings.into_iter().map(|warning| format!("plugin {name} {warning}"));
                checked.warnings.extend(told.map(|warning| Part::Pin.of(name, warning)));
            }
            Err(unconfirmed) => checked.problems.push(Part::Pin.of(name, format!("[plugin.{name}] {unconfirmed}"))),
        }
    }
}
