//! Engines: from the bytes of a component to a plugin that can be called.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use wharf_core::{AnswerMemory, Error, PluginName};

#[cfg(target_os = "linux")]
use crate::isolation::WorkerPool;
use crate::{
    backends::Backends,
    component::Component,
    error::{EngineError, LoadError},
    exports,
    metadata::Listed,
    plugin::Plugin,
    prepared::NewlyPrepared,
    shared::{EngineConfig, SharedEngine},
    source::ComponentSource,
};

/// Loads and calls plugins. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<SharedEngine>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine whose calls reach these backends. The runtime itself starts when
    /// it is first needed.
    #[must_use]
    pub fn new(config: EngineConfig, backends: Backends) -> Self {
        Self { shared: Arc::new(SharedEngine::new(config, backends)) }
    }

    /// Starts processes for plugins ahead of the first call, where they are isolated so. Blocks for
    /// milliseconds; the processes start on the runtime of the caller.
    ///
    /// # Errors
    /// Where the runtime for plugins cannot start.
    pub fn start_workers(&self) -> Result<(), EngineError> {
        #[cfg(target_os = "linux")]
        if let Some(workers) = &self.shared.workers {
            let target = self.shared.runtime()?.target;
            workers.start_ahead(&self.shared.worker_setup(target));
        }
        Ok(())
    }

    /// Starts a process for plugins as a call would, and ends it.
    ///
    /// # Errors
    /// Where none can be had: what the system, or the process itself, said of it. Where plugins run in the host there is
    /// nothing to start, and no error.
    pub async fn try_worker(&self) -> Result<(), Error> {
        #[cfg(target_os = "linux")]
        if let Some(workers) = &self.shared.workers {
            let runtime = self.shared.runtime();
            let target = runtime
                .map_err(|error| Error::new(wharf_core::Code::Unavailable, wharf_core::text::with_causes(&error)))?
                .target;
            workers.alone(&self.shared.worker_setup(target)).await?.retire();
        }
        Ok(())
    }

    /// How many processes run plugins; nothing where plugins run in the host.
    #[must_use]
    pub fn workers(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return self.shared.workers.as_ref().map(WorkerPool::count);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Why compiled code is not kept, though a directory was named for it.
    #[must_use]
    pub fn cache_problem(&self) -> Option<&str> {
        self.shared.cache_problem.as_deref()
    }

    /// The account of what the JSON of answers takes, for those that are no plugin's.
    #[must_use]
    pub fn answer_memory(&self) -> &AnswerMemory {
        &self.shared.answer_memory
    }

    /// Makes a plugin of a component's bytes. With a warm cache its metadata is
    /// read back; otherwise it is compiled and asked, which takes from tens of
    /// milliseconds to seconds. Blocks; not for an async task.
    ///
    /// # Errors
    /// Where the bytes are no plugin, or the plugin breaks the contract.
    pub fn load(&self, name: PluginName, component: Component) -> Result<Plugin, LoadError> {
        self.load_unless(name, component, &CancellationToken::new())
    }

    /// The same, given up as soon as `stop` fires: the child that compiles ends then.
    ///
    /// # Errors
    /// As [`Engine::load`], and [`LoadError::Stopped`].
    pub fn load_unless(
        &self,
        name: PluginName,
        component: Component,
        stop: &CancellationToken,
    ) -> Result<Plugin, LoadError> {
        let source = self.source(component)?;
        if let Some(kept) = self.kept(&source)? {
            return Ok(Plugin::new(name, source, None, kept));
        }
        let linked = source.linked(stop)?;
        let read = source.read_metadata(&name, &linked)?;
        Ok(Plugin::new(name, source, Some(linked), read))
    }

    /// Loads a plugin that takes no compiling: the program carries what it lists, or a host with
    /// the same cache has read it. None of any other. Blocks for milliseconds.
    ///
    /// # Errors
    /// Where it can be seen without compiling it that the bytes are no plugin.
    pub fn load_compiled(&self, name: PluginName, component: Component) -> Result<Option<Plugin>, LoadError> {
        let source = self.source(component)?;
        Ok(self.kept(&source)?.map(|kept| Plugin::new(name, source, None, kept)))
    }

    fn source(&self, component: Component) -> Result<ComponentSource, LoadError> {
        let size = component.size();
        let limit = self.shared.config.limits.component_bytes;
        if size > limit {
            return Err(LoadError::TooLarge { bytes: size, limit });
        }
        // What the program carries was looked at when it was built, and stays packed.
        if component.prepared().is_none() {
            look_at_preamble(&component.bytes())?;
        }
        Ok(ComponentSource { engine: Arc::clone(&self.shared), component })
    }

    /// What was kept of a component; of one of which nothing was, whether it may be a plugin.
    fn kept(&self, source: &ComponentSource) -> Result<Option<Listed>, LoadError> {
        if let Some(kept) = source.kept_metadata() {
            return Ok(Some(kept));
        }
        // What the program carries was checked when it was built.
        if source.component.prepared().is_none() {
            exports::check(&source.component)?;
        }
        Ok(None)
    }

    /// Compiles a component and asks it for what it lists, for a program that will carry the
    /// result. Blocks.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn prepare_ahead(&self, name: PluginName, component: Component) -> Result<NewlyPrepared, LoadError> {
        look_at_preamble(&component.bytes())?;
        exports::check(&component)?;
        ComponentSource { engine: Arc::clone(&self.shared), component }.prepare(&name)
    }
}

/// Tells a component from the formats that are often mistaken for one, so that the error
/// can name the remedy.
fn look_at_preamble(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes.get(..8) {
        Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => Err(LoadError::CoreModule),
        Some([0, b'a', b's', b'm', ..]) => Ok(()),
        None if bytes.starts_with(b"\0asm") => Err(LoadError::Malformed("it ends within its first 8 bytes".to_owned())),
        _ => Err(LoadError::NotWasm),
    }
}
