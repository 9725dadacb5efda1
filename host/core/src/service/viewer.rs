//! The viewer of what is served, and which plugins of it the viewer may use.

use std::sync::Arc;

use crate::{Context, PluginName, TenantId, tool::ToolSelection};

/// The viewer for whom lists are made and names looked up: all else seems not to exist.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'v> {
    /// Whose tools are seen beside those that all tenants see.
    pub tenant: &'v TenantId,
    /// The plugins that may be used; all where absent.
    pub plugins: Option<&'v AllowedPlugins>,
}

impl<'v> Viewer<'v> {
    /// A viewer of this tenant that may use every plugin.
    #[must_use]
    pub fn of_tenant(tenant: &'v TenantId) -> Self {
        Self { tenant, plugins: None }
    }

    /// Whether the plugin of this name may be used.
    #[must_use]
    pub fn allows(&self, plugin: &str) -> bool {
        self.plugins.is_none_or(|plugins| plugins.allows(plugin))
    }

    /// Whether the tool that is listed under this name may be used, where its plugin may.
    #[must_use]
    pub fn allows_tool(&self, listed: &str) -> bool {
        self.plugins.is_none_or(|plugins| plugins.tools.selects(listed))
    }
}

/// Which plugins somebody may use, by name, and which of their tools. Cheap to clone.
#[derive(Clone)]
pub struct AllowedPlugins {
    plugins: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    tools: Arc<ToolSelection>,
}

impl AllowedPlugins {
    /// Those for which this is true. A front end stands for a plugin of the name `app_NAME`.
    pub fn new(allows: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { plugins: Arc::new(allows), tools: Arc::default() }
    }

    /// The same with these tools alone, by the names under which they are listed.
    #[must_use]
    pub fn with_tools(self, tools: ToolSelection) -> Self {
        Self { tools: Arc::new(tools), ..self }
    }

    /// Whether this one is among them.
    #[must_use]
    pub fn allows(&self, plugin: &str) -> bool {
        (self.plugins)(plugin)
    }
}

impl std::fmt::Debug for AllowedPlugins {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("AllowedPlugins")
    }
}

/// Whom the change of a list concerns; everybody by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audience {
    /// Where a plugin told it in a call: the clients of this tenant alone.
    pub tenant: Option<TenantId>,
    /// Those who may use one of these plugins; everybody where absent.
    pub plugins: Option<Arc<[PluginName]>>,
}

impl Audience {
    /// Those that a call of a plugin may tell something.
    #[must_use]
    pub fn of_call(context: &Context, plugin: &PluginName) -> Self {
        Self { tenant: Some(context.tenant.clone()), plugins: Some([plugin.clone()].into()) }
    }

    /// Those who may use one of these plugins.
    #[must_use]
    pub fn of_plugins(plugins: impl IntoIterator<Item = PluginName>) -> Self {
        Self { tenant: None, plugins: Some(plugins.into_iter().collect()) }
    }

    /// Whether this viewer is one of them.
    #[must_use]
    pub fn includes(&self, viewer: Viewer<'_>) -> bool {
        let of_tenant = self.tenant.as_ref().is_none_or(|told| told == viewer.tenant);
        let of_plugin =
            self.plugins.as_ref().is_none_or(|plugins| plugins.iter().any(|plugin| viewer.allows(plugin.as_str())));
        of_tenant && of_plugin
    }
}
