//! From a configuration to plugins that can be called.

use std::sync::Arc;

use wharf_core::text::with_causes;
use wharf_core::{Grants, PluginName};
use wharf_engine::{Component, Engine};

use crate::{
    bundled,
    component::read_component,
    configuration::{Configuration, PluginSettings, Profile},
    offers::clash,
    registry::{Installed, Off, Plugins, Registry},
};

/// Why no plugin is called `app`.
pub(crate) const RESERVED: &str = "the name `app` is that of the tools which the embedding app registers itself; choose \
                                   another name for the plugin";

/// Loads the bundled plugins and those that the configuration names.
pub(crate) fn load_all(engine: &Engine, configuration: &Configuration) -> Registry {
    let mut wanted = configuration.plugins.clone();
    for bundled in bundled::PLUGINS {
        if let Ok(name) = bundled.name.parse::<PluginName>() {
            let limits = || configuration.limits_of_bundled(bundled);
            wanted.entry(name).or_insert_with(|| PluginSettings::bundled(limits()));
        }
    }
    let mut plugins = Plugins::default();
    for (name, settings) in wanted.into_iter().filter(|(_, settings)| settings.enabled) {
        if name == PluginName::app() {
            plugins.reject(name, RESERVED.to_owned());
            continue;
        }
        let grants = configuration.grants(&name, &settings);
        if bundled::is_useless(&name, &settings, &grants) {
            plugins.off.push(Off { developer: would_help(&name, &settings), name });
            continue;
        }
        let loaded = load(engine, &name, settings, grants, configuration.host_limits.component_bytes);
        match loaded.and_then(|plugin| clash(&plugin.plugin, &plugins.installed).map_or(Ok(plugin), Err)) {
            Ok(plugin) => plugins.add(plugin),
            Err(reason) => plugins.reject(name, reason),
        }
    }
    Registry::new(plugins)
}

fn load(
    engine: &Engine,
    name: &PluginName,
    settings: PluginSettings,
    mut grants: Grants,
    component_bytes: u64,
) -> Result<Installed, String> {
    let component = match &settings.source {
        Some(source) => {
            let bytes = read_component(source, component_bytes)
                .map_err(|error| format!("cannot read {}: {error}", source.display()))?;
            Component::new(bytes)
        }
        None => {
            let bundled = bundled::find(name.as_str()).ok_or("it is not part of this binary")?;
            bundled.component()
        }
    };
    if let Some(pinned) = settings.digest {
        let found = component.digest();
        if found != pinned {
            return Err(format!("its digest is {found}, and the configuration accepts only {pinned}"));
        }
    }
    let plugin = engine.load(name.clone(), component).map_err(|error| with_causes(&error))?;
    if let (Some(state), Some(scope)) = (grants.state.as_mut(), settings.default_scope) {
        state.default_scope = scope;
    }
    Ok(Installed {
        plugin,
        grants: Arc::new(grants),
        limits: Arc::new(settings.limits),
        settings: settings.settings.to_string().into(),
        prefix: settings.prefix,
    })
}

/// Whether the profile for developers grants it something.
fn would_help(name: &PluginName, settings: &PluginSettings) -> bool {
    let granted = bundled::find(name.as_str()).map(|bundled| bundled.grants(Profile::Developer));
    settings.grants.is_none() && granted.is_some_and(|grants| grants != Grants::default())
}
