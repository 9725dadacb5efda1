//! Components without a host: compiled, and asked for what they offer, with nothing granted.

use std::{path::PathBuf, sync::Arc};

use wharf_core::{HostLimits, PluginName};
use wharf_engine::{Backends, Component, Engine, EngineConfig, Inspection, LoadError, StartReport};
use wharf_state::MemoryStore;

/// Compiles a component and asks it what it is, in a sandbox that is granted nothing.
///
/// `cache` is where hosts keep compiled code, which is then used and filled. Blocks, for
/// seconds where the component has to be compiled; not for an async task.
///
/// # Errors
/// Where it is no plugin, or breaks a limit.
pub fn inspect(
    name: &PluginName,
    component: Component,
    limits: HostLimits,
    cache: Option<PathBuf>,
) -> Result<Inspection, LoadError> {
    Ok(engine(limits, cache).load(name.clone(), component)?.inspect())
}

/// The same, and makes some instances of it to say how they begin: a second or two longer.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_start(
    name: &PluginName,
    component: Component,
    limits: HostLimits,
    cache: Option<PathBuf>,
) -> Result<(Inspection, StartReport), LoadError> {
    let plugin = engine(limits, cache).load(name.clone(), component)?;
    Ok((plugin.inspect(), plugin.measure_start()?))
}

/// An engine whose plugins reach nothing that lasts.
pub(crate) fn engine(limits: HostLimits, cache: Option<PathBuf>) -> Engine {
    let config = EngineConfig { limits, cache_directory: cache, ..EngineConfig::default() };
    Engine::new(config, Backends::with_state(Arc::new(MemoryStore::default())))
}
