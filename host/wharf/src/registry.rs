//! Which plugins are installed, and which tools that makes.

mod hint;
mod plugin_set;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};
use wharf_core::{
    Digest, PluginName, Tool, ToolDefinition,
    service::Viewer,
    tool::{MAX_TOOLS, OutputSchemas},
};

use crate::{
    app::{RegisterError, Registered},
    front_ends::OtherTool,
    installed::{Compiling, Installed, Off, Rejected},
    offers::Offers,
    tool_name::{FRONT_END_PREFIX as OF_FRONT_END, front_end_of},
};

pub(crate) use plugin_set::{Disabled, PluginChange, Plugins, REFUSED, REJECTED, UNLOADED};

/// What can be called now. Replaced as a whole, never changed, so that a call
/// in flight keeps what it began with.
#[derive(Debug)]
pub(crate) struct Registry {
    definitions: Arc<[ToolDefinition]>,
    /// How much of their schemas the definitions show.
    schemas: OutputSchemas,
    tools: BTreeMap<String, Arc<Callee>>,
    offers: Offers,
    plugins: Arc<Plugins>,
    apps: BTreeMap<String, Arc<Registered>>,
}

/// A tool that can be called, and whose it is.
#[derive(Debug)]
pub(crate) enum Callee {
    Plugin {
        owner: Arc<Installed>,
        /// Which of its plugin's.
        tool: usize,
    },
    App(Arc<Registered>),
    /// Of a connected front end, which no registry holds.
    FrontEnd(Arc<Registered>),
    /// Of a front end that is connected at another host.
    OtherFrontEnd(Arc<OtherTool>),
}

impl Callee {
    /// The tool, where this host runs it.
    pub(crate) fn tool(&self) -> Option<&Tool> {
        match self {
            Self::Plugin { owner, tool } => owner.plugin.tools().get(*tool),
            Self::App(registered) | Self::FrontEnd(registered) => Some(&registered.tool),
            Self::OtherFrontEnd(_) => None,
        }
    }

    /// Its input schema, where that has an HTTP request repeat arguments in its headers.
    pub(crate) fn repeated_arguments(&self) -> Option<Arc<Map<String, Value>>> {
        let definition = match self {
            Self::OtherFrontEnd(other) => Some(&other.definition).filter(|definition| definition.repeats_arguments()),
            _ => self.tool().filter(|tool| tool.repeats_arguments).map(|tool| &tool.definition),
        };
        definition.map(|definition| Arc::clone(definition.input_schema.object()))
    }

    /// What the component is; the app's own tools are none.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Plugin { owner, .. } => Some(owner.plugin.digest()),
            Self::App(_) | Self::FrontEnd(_) | Self::OtherFrontEnd(_) => None,
        }
    }

    /// What the audit calls the tool of this full name; the front end that serves it
    /// is part of that.
    pub(crate) fn known_as<'n>(&'n self, full_name: &'n str) -> &'n str {
        match self {
            Self::FrontEnd(_) | Self::OtherFrontEnd(_) => full_name.strip_prefix(OF_FRONT_END).unwrap_or(full_name),
            Self::Plugin { .. } | Self::App(_) => self.tool().map_or(full_name, |tool| &tool.definition.name),
        }
    }

    /// The plugin, in whose place the app stands for its own tools.
    pub(crate) fn plugin(&self) -> PluginName {
        match self {
            Self::Plugin { owner, .. } => owner.plugin.name().clone(),
            Self::App(_) | Self::FrontEnd(_) | Self::OtherFrontEnd(_) => PluginName::app(),
        }
    }

    /// Whether this viewer may call the tool of this full name.
    pub(crate) fn is_seen_by(&self, viewer: Viewer<'_>, full_name: &str) -> bool {
        let allows_owner = match self {
            Self::Plugin { owner, .. } => owner.is_seen_by(viewer),
            Self::App(_) => viewer.allows(PluginName::app().as_str()),
            Self::FrontEnd(_) | Self::OtherFrontEnd(_) => viewer.allows(front_end_of(full_name)),
        };
        allows_owner && viewer.allows_tool(full_name)
    }

    /// What a client sees of it under this full name.
    fn definition(&self, full_name: &str, schemas: OutputSchemas) -> Option<ToolDefinition> {
        Some(ToolDefinition { name: full_name.to_owned(), ..schemas.listed(self.tool()?) })
    }
}

impl Registry {
    pub(crate) fn new(plugins: Plugins, schemas: OutputSchemas) -> Self {
        Self::of(Arc::new(plugins.sorted()), BTreeMap::new(), schemas)
    }

    fn of(plugins: Arc<Plugins>, apps: BTreeMap<String, Arc<Registered>>, schemas: OutputSchemas) -> Self {
        let mut tools = BTreeMap::new();
        for installed in &plugins.installed {
            let owner = Arc::new(installed.clone());
            for (tool, known) in installed.selected() {
                let callee = Callee::Plugin { owner: Arc::clone(&owner), tool };
                tools.insert(installed.listed_name(&known.definition.name), Arc::new(callee));
            }
        }
        // No plugin is called as the app is, so that none of these is there.
        tools.extend(apps.iter().map(|(name, app)| (name.clone(), Arc::new(Callee::App(Arc::clone(app))))));
        let offers = Offers::of(&plugins.installed);
        // The map's order is the fixed order of the listing.
        let definitions = tools.iter().filter_map(|(name, callee)| callee.definition(name, schemas)).collect();
        Self { definitions, schemas, tools, offers, plugins, apps }
    }

    /// The same tools of the app beside these plugins.
    pub(crate) fn with_plugins(&self, plugins: Plugins) -> Self {
        Self::of(Arc::new(plugins.sorted()), self.apps.clone(), self.schemas)
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
        Ok(Self::of(Arc::clone(&self.plugins), apps, self.schemas))
    }

    /// The same without this tool of the app, where it has it.
    pub(crate) fn without_app(&self, name: &str) -> Option<Self> {
        let mut apps = self.apps.clone();
        apps.remove(name)?;
        Some(Self::of(Arc::clone(&self.plugins), apps, self.schemas))
    }

    /// The tools that this viewer sees of plugins and of the app.
    pub(crate) fn definitions(&self, viewer: Viewer<'_>) -> Arc<[ToolDefinition]> {
        if viewer.plugins.is_none() {
            return Arc::clone(&self.definitions);
        }
        // The definitions stand in the order of the map.
        let seen = self.definitions.iter().zip(self.tools.values());
        let seen = seen.filter(|(definition, callee)| callee.is_seen_by(viewer, &definition.name));
        seen.map(|(definition, _)| definition.clone()).collect()
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

    /// A plugin that is being compiled and may have a tool of this full name for the viewer.
    pub(crate) fn awaited(&self, viewer: Viewer<'_>, name: &str) -> Option<&Compiling> {
        self.plugins.compiling.iter().find(|compiling| compiling.may_have(viewer, name))
    }

    /// A plugin that is being compiled and may have a prompt of this full name for the viewer.
    pub(crate) fn awaited_for_prompt(&self, viewer: Viewer<'_>, name: &str) -> Option<&Compiling> {
        self.plugins.compiling.iter().find(|compiling| compiling.may_offer(viewer, name))
    }

    /// A plugin that is being compiled and may have resources for the viewer: any, since addresses
    /// do not name their plugin.
    pub(crate) fn awaited_for_resource(&self, viewer: Viewer<'_>) -> Option<&Compiling> {
        self.plugins.compiling.iter().find(|compiling| viewer.allows(compiling.name.as_str()))
    }

    /// The tool of this full name.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Callee>> {
        self.tools.get(name)
    }
}
