//! What an app says of a plugin that it loads itself.

use serde_json::{Map, Value};
use wharf_core::{CallLimits, Grants, PluginName};
use wharf_engine::ClockResolution;

/// A component, and what it may use. The app is the operator here: what it grants is
/// granted.
#[derive(Clone)]
#[must_use = "a plugin is loaded by `Host::load_plugin`"]
pub struct PluginSpec {
    pub(super) name: PluginName,
    pub(super) component: Vec<u8>,
    pub(super) grants: Grants,
    pub(super) limits: Option<CallLimits>,
    pub(super) clock_resolution: Option<ClockResolution>,
    pub(super) settings: Value,
    pub(super) prefix: bool,
    pub(super) functions: bool,
}

impl std::fmt::Debug for PluginSpec {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PluginSpec")
            .field("name", &self.name)
            .field("bytes", &self.component.len())
            .finish_non_exhaustive()
    }
}

impl PluginSpec {
    /// A component under a name. Nothing is granted, and its calls have the limits of
    /// `[limits]`.
    pub fn new(name: PluginName, component: Vec<u8>) -> Self {
        let settings = Value::Object(Map::new());
        Self {
            name,
            component,
            grants: Grants::default(),
            limits: None,
            clock_resolution: None,
            settings,
            prefix: true,
            functions: false,
        }
    }

    /// What it may use.
    pub fn with_grants(self, grants: Grants) -> Self {
        Self { grants, ..self }
    }

    /// What its calls may use up.
    pub fn with_limits(self, limits: CallLimits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    /// The steps in which it sees time go on.
    pub fn with_clock_resolution(self, resolution: ClockResolution) -> Self {
        Self { clock_resolution: Some(resolution), ..self }
    }

    /// What it is told by its `settings` interface.
    pub fn with_settings(self, settings: Map<String, Value>) -> Self {
        Self { settings: Value::Object(settings), ..self }
    }

    /// Makes a tool of each function that the component exports, for one that was made for another
    /// host. Its settings are the variables of its environment.
    pub fn with_functions(self) -> Self {
        Self { functions: true, ..self }
    }

    /// Lists its tools under their own names instead of as `plugin__tool`.
    pub fn without_prefix(self) -> Self {
        Self { prefix: false, ..self }
    }
}
