//! Components without a host: compiled, and asked for what they offer, with nothing granted.

use std::{path::PathBuf, sync::Arc};

use wharf_core::{HostLimits, PluginName};
use wharf_engine::{Backends, Component, Engine, EngineConfig, Inspection, LoadError, StartReport};
use wharf_state::MemoryStore;

/// Where what was compiled is kept, used and added; nowhere, where absent.
#[derive(Debug, Clone, Default)]
pub struct CompileCaches {
    /// Code of whole components, as hosts keep it in `cache` below their data directory.
    pub code: Option<PathBuf>,
    /// Functions, for components of one author: see [`HostBuilder::compiled_functions`](crate::HostBuilder::compiled_functions).
    pub functions: Option<PathBuf>,
}

/// Compiles a component and asks it what it is, in a sandbox that is granted nothing.
///
/// Blocks, for seconds where the component has to be compiled; not for an async task.
///
/// # Errors
/// Where it is no plugin, or breaks a limit.
pub fn inspect(
    name: &PluginName,
    component: Component,
    limits: HostLimits,
    caches: CompileCaches,
) -> Result<Inspection, LoadError> {
    Ok(engine(limits, caches).load(name.clone(), component)?.inspect())
}

/// The same, and makes some instances of it to say how they begin: a second or two longer.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_start(
    name: &PluginName,
    component: Component,
    limits: HostLimits,
    caches: CompileCaches,
) -> Result<(Inspection, StartReport), LoadError> {
    let plugin = engine(limits, caches).load(name.clone(), component)?;
    Ok((plugin.inspect(), plugin.measure_start()?))
}

/// An engine whose plugins reach nothing that lasts.
pub(crate) fn engine(limits: HostLimits, CompileCaches { code, functions }: CompileCaches) -> Engine {
    let config =
        EngineConfig { limits, cache_directory: code, functions_directory: functions, ..EngineConfig::default() };
    Engine::new(config, Backends::with_state(Arc::new(MemoryStore::default())))
}
