//! Which plugins are installed, and which tools that makes.

use std::{collections::BTreeMap, sync::Arc};

use wharf_core::{CallLimits, Grants, PluginName, Tool, ToolDefinition, tool::MAX_TOOLS};
use wharf_engine::Plugin;

use crate::{
    app::{RegisterError, Registered},
    offers::Offers,
};

/// A plugin with what the operator decided about it.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The plugin itself.
    pub plugin: Plugin,
    /// What it may use.
    pub grants: Arc<Grants>,
    /// What its calls may use up.
    pub limits: Arc<CallLimits>,
    /// What the operator set for it: JSON text of an object.
    pub settings: Arc<str>,
}

/// A plugin that could not be loaded. The others are served all the same.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Its name in the configuration.
    pub name: PluginName,
    /// Why, for the operator.
    pub reason: String,
}

/// A bundled plugin that is granted nothing and so can do nothing.
#[derive(Debug, Clone)]
pub struct Off {
    /// Its name.
    pub name: PluginName,
    /// Whether the profile `developer` would grant it something.
    pub developer: bool,
}

/// What the operator's configuration made of the plugins.
#[derive(Debug, Default)]
pub(crate) struct Plugins {
    pub(crate) installed: Vec<Installed>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) off: Vec<Off>,
}

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
}

impl Callee<'_> {
    pub(crate) fn tool(&self) -> &Tool {
        match self {
            Self::Plugin(_, tool) => tool,
            Self::App(registered) => &registered.tool,
        }
    }

    /// The plugin, in whose place the app stands for its own tools.
    pub(crate) fn plugin(&self) -> PluginName {
        match self {
            Self::Plugin(installed, _) => installed.plugin.name().clone(),
            Self::App(_) => PluginName::app(),
        }
    }
}

/// Separates the names of plugin and tool. Neither may contain it.
const SEPARATOR: &str = "__";

/// The name under which a client sees a tool.
pub(crate) fn full_name(plugin: &PluginName, tool: &str) -> String {
    format!("{plugin}{SEPARATOR}{tool}")
}

impl Registry {
    pub(crate) fn new(plugins: Plugins) -> Self {
        Self::of(Arc::new(plugins), BTreeMap::new())
    }

    fn of(plugins: Arc<Plugins>, apps: BTreeMap<String, Arc<Registered>>) -> Self {
        let mut tools = BTreeMap::new();
        for (plugin, installed) in plugins.installed.iter().enumerate() {
            for (tool, known) in installed.plugin.tools().iter().enumerate() {
                let name = full_name(installed.plugin.name(), &known.definition.name);
                tools.insert(name, Place::Plugin { plugin, tool });
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

    /// Names that a caller of an unknown tool may have meant: those of the same
    /// plugin, or the same tool of another one.
    pub(crate) fn similar(&self, name: &str) -> Vec<&str> {
        let (plugin, tool) = name.split_once(SEPARATOR).unwrap_or((name, name));
        let related = |known: &&str| {
            let (of_plugin, of_tool) = known.split_once(SEPARATOR).unwrap_or((known, known));
            of_plugin == plugin || of_tool == tool
        };
        self.tools.keys().map(String::as_str).filter(related).take(10).collect()
    }
}
