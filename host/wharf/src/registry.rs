//! Which plugins are installed, and which tools that makes.

use std::{collections::BTreeMap, sync::Arc};

use wharf_core::{CallLimits, Grants, PluginName, ToolDefinition};
use wharf_engine::{Plugin, Tool};

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

/// What can be called now. Replaced as a whole, never changed, so that a call
/// in flight keeps what it began with.
#[derive(Debug)]
pub(crate) struct Registry {
    definitions: Arc<[ToolDefinition]>,
    tools: BTreeMap<String, (usize, usize)>,
    installed: Vec<Installed>,
    rejected: Vec<Rejected>,
    off: Vec<Off>,
}

/// Separates the names of plugin and tool. Neither may contain it.
const SEPARATOR: &str = "__";

impl Registry {
    pub(crate) fn new(installed: Vec<Installed>, rejected: Vec<Rejected>, off: Vec<Off>) -> Self {
        let mut tools = BTreeMap::new();
        for (plugin_index, installed) in installed.iter().enumerate() {
            let plugin = installed.plugin.name();
            for (tool_index, tool) in installed.plugin.tools().iter().enumerate() {
                let name = format!("{plugin}{SEPARATOR}{}", tool.definition.name);
                tools.insert(name, (plugin_index, tool_index));
            }
        }
        // The map's order is the fixed order of the listing.
        let definitions = tools
            .iter()
            .map(|(name, (plugin, tool))| ToolDefinition {
                name: name.clone(),
                ..installed[*plugin].plugin.tools()[*tool].definition.clone()
            })
            .collect();
        Self { definitions, tools, installed, rejected, off }
    }

    pub(crate) fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    pub(crate) fn installed(&self) -> &[Installed] {
        &self.installed
    }

    pub(crate) fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    pub(crate) fn off(&self) -> &[Off] {
        &self.off
    }

    /// The tool of this full name.
    pub(crate) fn find(&self, name: &str) -> Option<(&Installed, &Tool)> {
        let (plugin, tool) = self.tools.get(name)?;
        let installed = &self.installed[*plugin];
        Some((installed, &installed.plugin.tools()[*tool]))
    }

    /// Whether the tool would be one of a plugin that could not be loaded.
    pub(crate) fn is_rejected(&self, name: &str) -> bool {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        self.rejected.iter().any(|rejected| Some(rejected.name.as_str()) == plugin)
    }

    /// The plugin of the tool, if it is one that is off.
    pub(crate) fn is_off(&self, name: &str) -> Option<&Off> {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin);
        self.off.iter().find(|off| Some(off.name.as_str()) == plugin)
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
