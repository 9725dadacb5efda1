//! Which plugins are installed, and which tools that makes.

mod plugin_set;

use std::{collections::BTreeMap, sync::Arc};

use wharf_core::{Digest, PluginName, Tool, ToolDefinition, tool::MAX_TOOLS};

use crate::{
    app::{RegisterError, Registered},
    installed::{Installed, Off, Rejected},
    nearest::nearest,
    offers::Offers,
    tool_name::{FRONT_END_PREFIX as OF_FRONT_END, SEPARATOR},
};

/// Names that a caller of an unknown tool is told.
const SIMILAR: usize = 10;
/// How like a name has to be where neither plugin nor tool is the same.
const ALIKE: f32 = 0.7;

pub(crate) use plugin_set::{Disabled, PluginChange, Plugins, REFUSED, REJECTED, UNLOADED};

/// What can be called now. Replaced as a whole, never changed, so that a call
/// in flight keeps what it began with.
#[derive(Debug)]
pub(crate) struct Registry {
    definitions: Arc<[ToolDefinition]>,
    tools: BTreeMap<String, Place>,
    offers: Offers,
    plugins: Arc<Plugins>,
    apps: BTreeMap<String, Arc<Registered>>,
}

/// Where a tool is found.
#[derive(Debug)]
enum Place {
    Plugin { plugin: usize, tool: usize },
    App(Arc<Registered>),
}

/// A tool that was found, and whose it is.
#[derive(Clone, Copy)]
pub(crate) enum Callee<'r> {
    Plugin(&'r Installed, &'r Tool),
    App(&'r Registered),
    /// Of a connected front end, which no registry holds.
    FrontEnd(&'r Registered),
}

impl<'r> Callee<'r> {
    pub(crate) fn tool(&self) -> &'r Tool {
        match self {
            Self::Plugin(_, tool) => tool,
            Self::App(registered) | Self::FrontEnd(registered) => &registered.tool,
        }
    }

    /// What the component is; the app's own tools are none.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Plugin(installed, _) => Some(installed.plugin.digest()),
            Self::App(_) | Self::FrontEnd(_) => None,
        }
    }

    /// What the audit calls the tool of this full name; the front end that serves it
    /// is part of that.
    pub(crate) fn known_as<'n>(&self, full_name: &'n str) -> &'n str
    where
        'r: 'n,
    {
        match self {
            Self::FrontEnd(_) => full_name.strip_prefix(OF_FRONT_END).unwrap_or(full_name),
            Self::Plugin(..) | Self::App(_) => &self.tool().definition.name,
        }
    }

    /// The plugin, in whose place the app stands for its own tools.
    pub(crate) fn plugin(&self) -> PluginName {
        match self {
            Self::Plugin(installed, _) => installed.plugin.name().clone(),
            Self::App(_) | Self::FrontEnd(_) => PluginName::app(),
        }
    }
}

impl Registry {
    pub(crate) fn new(plugins: Plugins) -> Self {
        Self::of(Arc::new(plugins.sorted()), BTreeMap::new())
    }

    fn of(plugins: Arc<Plugins>, apps: BTreeMap<String, Arc<Registered>>) -> Self {
        let mut tools = BTreeMap::new();
        for (plugin, installed) in plugins.installed.iter().enumerate() {
            for (tool, known) in installed.plugin.tools().iter().enumerate() {
                tools.insert(installed.listed_name(&known.definition.name), Place::Plugin { plugin, tool });
            }
        }
        // No plugin is called as the app is, so that none of these is there.
        tools.extend(apps.iter().map(|(name, app)| (name.clone(), Place::App(Arc::clone(app)))));
        let offers = Offers::of(&plugins.installed);
        let mut registry = Self { definitions: Arc::new([]), tools, offers, plugins, apps };
        // The map's order is the fixed order of the listing.
        let named = |(name, place): (&String, &Place)| ToolDefinition {
            name: name.clone(),
            ..registry.at(place).tool().definition.clone()
        };
        registry.definitions = registry.tools.iter().map(named).collect();
        registry
    }

    /// The same tools of the app beside these plugins.
    pub(crate) fn with_plugins(&self, plugins: Plugins) -> Self {
        Self::of(Arc::new(plugins.sorted()), self.apps.clone())
    }

    pub(crate) fn plugins(&self) -> &Arc<Plugins> {
        &self.plugins
    }

    /// Whether a client would find something else here: another list, or another
    /// component behind it.
    pub(crate) fn offers_what(&self, other: &Self) -> bool {
        let components = |registry: &Self| -> Vec<_> {
            registry.installed().iter().map(|known| (known.plugin.name().clone(), known.digest())).collect()
        };
        self.definitions == other.definitions && components(self) == components(other)
    }

    /// The same with one more tool of the app.
    pub(crate) fn with_app(&self, app: Arc<Registered>) -> Result<Self, RegisterError> {
        let name = app.full_name();
        if self.apps.contains_key(&name) {
            return Err(RegisterError::Taken { name });
        }
        if self.apps.len() >= MAX_TOOLS {
            return Err(RegisterError::TooMany);
        }
        let mut apps = self.apps.clone();
        apps.insert(name, app);
        Ok(Self::of(Arc::clone(&self.plugins), apps))
    }

    /// The same without this tool of the app, where it has it.
    pub(crate) fn without_app(&self, name: &str) -> Option<Self> {
        let mut apps = self.apps.clone();
        apps.remove(name)?;
        Some(Self::of(Arc::clone(&self.plugins), apps))
    }

    fn at<'r>(&'r self, place: &'r Place) -> Callee<'r> {
        match place {
            Place::Plugin { plugin, tool } => {
                let installed = &self.plugins.installed[*plugin];
                Callee::Plugin(installed, &installed.plugin.tools()[*tool])
            }
            Place::App(app) => Callee::App(app),
        }
    }

    pub(crate) fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    pub(crate) fn offers(&self) -> &Offers {
        &self.offers
    }

    pub(crate) fn installed(&self) -> &[Installed] {
        &self.plugins.installed
    }

    pub(crate) fn rejected(&self) -> &[Rejected] {
        &self.plugins.rejected
    }

    pub(crate) fn off(&self) -> &[Off] {
        &self.plugins.off
    }

    /// The tool of this full name.
    pub(crate) fn find(&self, name: &str) -> Option<Callee<'_>> {
        Some(self.at(self.tools.get(name)?))
    }

    /// Whether the tool would be one of a plugin that could not be loaded.
    pub(crate) fn is_rejected(&self, name: &str) -> bool {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        self.plugins.rejected.iter().any(|rejected| Some(rejected.name.as_str()) == plugin)
    }

    /// The plugin of the tool, if it is one that is off.
    pub(crate) fn is_off(&self, name: &str) -> Option<&Off> {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        self.plugins.off.iter().find(|off| Some(off.name.as_str()) == plugin)
    }

    /// Whether the tool would be one of a plugin that is switched off.
    pub(crate) fn is_disabled(&self, name: &str) -> bool {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        self.plugins.disabled.iter().any(|disabled| Some(disabled.name.as_str()) == plugin)
    }

    /// Names that a caller of an unknown tool may have meant, the likest first: those
    /// of the same plugin, the same tool of another one, and whatever looks like it.
    pub(crate) fn similar(&self, name: &str) -> Vec<&str> {
        let (plugin, tool) = name.split_once(SEPARATOR).unwrap_or((name, name));
        let (mut related, mut others) = (Vec::new(), Vec::new());
        for known in self.tools.keys().map(String::as_str) {
            let (of_plugin, of_tool) = known.split_once(SEPARATOR).unwrap_or((known, known));
            if of_plugin == plugin || of_tool == tool { related.push(known) } else { others.push(known) }
        }
        related.extend(nearest(name, &others, SIMILAR, ALIKE));
        nearest(name, &related, SIMILAR, 0.0)
    }
}
