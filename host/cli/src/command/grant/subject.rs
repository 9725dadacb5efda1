//! The plugin that is decided about: where its component is, what it asks for, and
//! what it is granted as things are.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use wharf::{
    Configuration, Grants, PluginName,
    added::AddedPlugins,
    bundled_component,
    component::{Component, Inspection},
    configuration::{ComponentPlace, KnownComponent, PluginSettings},
    grant::Capability,
    sources::read_component,
    trust::{SourcedComponent, Vetted},
    with_causes,
};

use super::words;
use crate::{
    command::inspect::{Look, plugin_name},
    exit::Unusable,
    progress::ProgressDisplay,
};

/// Where the component is.
pub(super) enum SubjectSource {
    /// It is part of this binary.
    Bundled,
    /// `wharf.toml` names its file, or will.
    File(PathBuf),
    /// It was added by command.
    Added,
    /// It lies in the folder of plugins.
    Folder(PathBuf),
}

impl fmt::Display for SubjectSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled => formatter.write_str("part of this binary"),
            Self::File(file) => write!(formatter, "{}", file.display()),
            Self::Added => formatter.write_str("added by `wharf plugin add`"),
            Self::Folder(file) => write!(formatter, "{} in the folder of plugins", file.display()),
        }
    }
}

/// What the command line names.
pub(super) struct Wanted<'a> {
    /// A plugin, or a file.
    pub(super) plugin: &'a str,
    /// The name of what is in the file.
    pub(super) name: Option<&'a PluginName>,
    /// Whether each function of the file is a tool.
    pub(super) functions: bool,
}

/// What is decided about.
pub(super) struct Subject {
    pub(super) name: PluginName,
    pub(super) inspection: Inspection,
    pub(super) source: SubjectSource,
    /// Who signed its component.
    pub(super) vetted: Vetted,
    /// What the configuration says of it.
    pub(super) settings: PluginSettings,
    /// Whether the configuration says anything of it.
    pub(super) is_written: bool,
    /// What the configuration grants.
    written: Grants,
    /// What this component may use of that.
    pub(super) granted: Grants,
    /// Why the component has none of the grants that are written.
    pub(super) withheld: Option<String>,
}

impl Subject {
    /// The plugin of this name that a host on this data directory would load, or the
    /// component in the file of this name.
    pub(super) fn find(
        wanted: &Wanted<'_>,
        configuration: &Configuration,
        (data, progress): (&Path, ProgressDisplay),
    ) -> Result<Self> {
        let Wanted { plugin, name, functions } = *wanted;
        if let (None, false, Ok(name)) = (name, functions, plugin.parse::<PluginName>())
            && let Some(subject) = Self::of_name(&name, configuration, (data, progress))?
        {
            return Ok(subject);
        }
        let file = component_file(plugin).map_err(|error| {
            let plugin = wharf::text::line(plugin, 300);
            if functions {
                return Unusable(format!("--functions is for the file of a component; `{plugin}`: {error}"));
            }
            Unusable(format!(
                "no plugin `{plugin}` is configured, added or part of this binary, and there is no file of that name: \
                 {error}"
            ))
        })?;
        let name = name.cloned().unwrap_or_else(|| plugin_name(&file));
        if let Some(settings) = configuration.plugins.get(&name) {
            let source = settings.source.as_deref().and_then(|source| fs::canonicalize(source).ok());
            if source.as_ref() != Some(&file) {
                bail!(Unusable(format!(
                    "plugin `{name}` of the configuration is another one; choose a name with --name, or say `wharf grant \
                     {name}` to decide about that one"
                )));
            }
        }
        let functions = functions || configuration.settings_of(&name).functions;
        let sourced = read(&file, functions, configuration, ComponentPlace::File)?;
        Self::new(configuration, (data, progress), name, sourced, SubjectSource::File(file))
    }

    /// The plugin of this name that a host on this data directory would load; nothing where there is
    /// none.
    pub(super) fn of_name(
        name: &PluginName,
        configuration: &Configuration,
        (data, progress): (&Path, ProgressDisplay),
    ) -> Result<Option<Self>> {
        let settings = configuration.settings_of(name);
        let (sourced, source) = if let Some(file) = settings.source {
            (read(&file, settings.functions, configuration, ComponentPlace::File)?, SubjectSource::File(file))
        } else if let Some(component) = bundled_component(name) {
            (SourcedComponent::bundled(component), SubjectSource::Bundled)
        } else {
            let added = AddedPlugins::of(data).component_of(name, configuration.host_limits.component_bytes);
            let folder = configuration.plugin_folder.as_ref().map(|folder| folder.join(format!("{name}.wasm")));
            match (added.map_err(|error| Unusable(with_causes(&error)))?, folder.filter(|file| file.exists())) {
                (Some(sourced), _) => (sourced.with_functions(settings.functions), SubjectSource::Added),
                (None, Some(file)) => {
                    let sourced = read(&file, settings.functions, configuration, ComponentPlace::Folder)?;
                    (sourced, SubjectSource::Folder(file))
                }
                (None, None) => return Ok(None),
            }
        };
        Self::new(configuration, (data, progress), name.clone(), sourced, source).map(Some)
    }

    fn new(
        configuration: &Configuration,
        (data, progress): (&Path, ProgressDisplay),
        name: PluginName,
        sourced: SourcedComponent,
        source: SubjectSource,
    ) -> Result<Self> {
        let vetted = configuration.vet(&name, &sourced, &configuration.denied(data));
        let vetted = vetted.map_err(|error| Unusable(format!("plugin {name}: {error}")))?;
        let shown = match &source {
            SubjectSource::File(file) | SubjectSource::Folder(file) => file.display().to_string(),
            SubjectSource::Bundled | SubjectSource::Added => name.to_string(),
        };
        let inspection = Look::beside(configuration, data, progress).at(&name, sourced.component, &shown)?;
        let settings = configuration.settings_of(&name);
        let is_written = configuration.plugins.contains_key(&name);
        let (mut written, mut granted, mut withheld) = (Grants::default(), Grants::default(), None);
        // What is not written is granted nothing, but for what is bundled.
        if is_written || matches!(source, SubjectSource::Bundled) {
            match configuration.effective_grants(&name, &settings, vetted.known(inspection.digest)) {
                Ok(effective) => {
                    withheld = effective.withheld.map(|unconfirmed| unconfirmed.to_string());
                    granted = effective.grants;
                }
                Err(unconfirmed) => withheld = Some(unconfirmed.to_string()),
            }
            written = settings.grants.clone().unwrap_or_default();
        }
        Ok(Self { name, inspection, source, vetted, settings, is_written, written, granted, withheld })
    }

    /// What a confirmation confirms.
    pub(super) fn component(&self) -> KnownComponent<'_> {
        self.vetted.known(self.inspection.digest)
    }

    /// What it asks for.
    pub(super) fn wanted(&self) -> Vec<Capability> {
        self.inspection.wanted_grants().into_iter().filter_map(Capability::from_word).collect()
    }

    /// What it has, or would have once its component is confirmed.
    pub(super) fn known(&self) -> &Grants {
        if self.withheld.is_some() { &self.written } else { &self.granted }
    }

    /// Says of each capability that is about to be granted if the component does not ask for it.
    pub(super) fn note_unasked(&self, granted: impl Iterator<Item = Capability>) {
        let wanted = self.wanted();
        for capability in granted.filter(|capability| !wanted.contains(capability)) {
            eprintln!("note: it does not ask for `{capability}`");
        }
    }

    /// What it asks for and is not granted, with its own reason.
    pub(super) fn missing(&self) -> Vec<(Capability, Option<String>)> {
        let missing = self.wanted().into_iter().filter(|capability| !self.known().names(*capability));
        missing.map(|capability| (capability, self.inspection.reasons.get(&capability).cloned())).collect()
    }

    /// `confirmed` says that this very command lets a component that changed have its grants.
    pub(super) fn describe(&self, confirmed: bool) {
        let Self { name, inspection, source, granted, withheld, .. } = self;
        println!("Plugin {name}, {source}");
        println!("  digest  {}", inspection.digest);
        if let Some(signer) = self.vetted.signer() {
            println!("  signed  by {signer}");
        }
        let tools: Vec<_> = inspection.tools.iter().map(|tool| tool.name.as_str()).collect();
        println!("  tools   {}", tools.join(", "));
        let granted = if confirmed { self.known() } else { granted };
        match withheld {
            Some(_) if confirmed => println!("\nIts component has changed. --confirm lets this one have the grants."),
            Some(withheld) => println!("\nIt has none of its grants: {withheld}."),
            None => {}
        }
        let wanted = self.wanted();
        if wanted.is_empty() {
            println!("\nIt asks for nothing: it computes, and answers.");
        }
        for capability in wanted {
            let words = words::of(capability);
            let state = if granted.names(capability) { "granted now" } else { "not granted" };
            println!("\nIt asks for `{capability}` ({state}).");
            println!("  It could {}.", words.can);
            println!("  Risk: {}.", words.risk);
            match inspection.reasons.get(&capability) {
                Some(reason) => println!("  Why, in its own words: {reason}"),
                None => println!("  Why: its component does not say."),
            }
        }
        let unasked: Vec<_> = Capability::ALL
            .into_iter()
            .filter(|capability| granted.names(*capability) && !self.wanted().contains(capability))
            .map(Capability::as_str)
            .collect();
        if !unasked.is_empty() {
            println!("\nIt is granted and does not ask for: {}.", unasked.join(", "));
        }
    }
}

fn read(
    file: &Path,
    functions: bool,
    configuration: &Configuration,
    place: ComponentPlace,
) -> Result<SourcedComponent> {
    let bytes = read_component(file, configuration.host_limits.component_bytes);
    let bytes = bytes.with_context(|| format!("cannot read {}", file.display()))?;
    let component = Component::new(bytes).with_functions(functions);
    Ok(SourcedComponent::of_file(component, place, file))
}

/// The file of this name. A plugin's folder often has the name of the plugin.
fn component_file(path: &str) -> io::Result<PathBuf> {
    let file = fs::canonicalize(path)?;
    if file.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}
