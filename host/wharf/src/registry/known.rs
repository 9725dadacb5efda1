//! What the host knows of its plugins: those that can be called, and why others
//! cannot.

use std::sync::Arc;

use wharf_core::{CallLimits, Grants, PluginName};
use wharf_engine::Plugin;

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
    /// Whether its tools are listed as `plugin__tool`, or under their own names.
    pub prefix: bool,
}

impl Installed {
    /// The name under which a client sees one of its tools.
    #[must_use]
    pub fn listed_name(&self, tool: &str) -> String {
        if self.prefix { full_name(self.plugin.name(), tool) } else { tool.to_owned() }
    }

    /// Why it cannot stand beside another one. Names with a prefix are those of one
    /// plugin alone.
    fn conflict(&self, other: &Self) -> Option<String> {
        if self.prefix || other.prefix {
            return None;
        }
        let taken = |name: &str| other.plugin.tools().iter().any(|tool| tool.definition.name == name);
        let mut names = self.plugin.tools().iter().map(|tool| tool.definition.name.as_str());
        let (name, own, other) = (names.find(|name| taken(name))?, self.plugin.name(), other.plugin.name());
        Some(format!(
            "its tool `{name}` is listed without a prefix, and so is that of the plugin {other}; take \
             `prefix = false` out of [plugin.{own}] or of [plugin.{other}]"
        ))
    }
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
#[derive(Debug, Clone, Default)]
pub(crate) struct Plugins {
    pub(crate) installed: Vec<Installed>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) off: Vec<Off>,
}

impl Plugins {
    /// Adds a plugin beside those that are there; one that cannot stand beside them
    /// is rejected.
    pub(crate) fn add(&mut self, plugin: Installed) {
        match self.conflict(&plugin) {
            None => self.installed.push(plugin),
            Some(reason) => self.reject(plugin.plugin.name().clone(), reason),
        }
    }

    pub(crate) fn reject(&mut self, name: PluginName, reason: String) {
        tracing::error!(plugin = %name, "cannot be loaded: {reason}");
        self.rejected.push(Rejected { name, reason });
    }

    /// Why a plugin cannot stand beside those of other names.
    pub(crate) fn conflict(&self, plugin: &Installed) -> Option<String> {
        let others = self.installed.iter().filter(|other| other.plugin.name() != plugin.plugin.name());
        others.filter_map(|other| plugin.conflict(other)).next()
    }
}

/// Separates the names of plugin and tool. Neither may contain it.
pub(super) const SEPARATOR: &str = "__";

/// The name under which a client sees a tool.
pub(crate) fn full_name(plugin: &PluginName, tool: &str) -> String {
    format!("{plugin}{SEPARATOR}{tool}")
}
