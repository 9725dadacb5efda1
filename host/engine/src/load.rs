//! Engines and plugins: from the bytes of a component to something that can be
//! called.

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Map;
use tokio_util::sync::CancellationToken;
use wasmtime::component::{Component, types::ComponentItem};
use wharf_core::{
    Answer, CallLimits, Context, Digest, Error, Grants, HostLimits, PluginName, SessionId, TenantId, ToolDefinition,
};
use wharf_state::StateStore;

use crate::{
    bindings::EverythingPre,
    cache::Cache,
    call::{self, Function, Invocation, Returned},
    error::{EngineError, LoadError, reason},
    guest::{Guest, Setting},
    inspection::Inspection,
    metadata::{self, Tool},
    runtime::Runtime,
};

/// How an engine is set up.
#[derive(Debug, Clone, Default)]
pub struct EngineConfig {
    /// Limits that hold for the host as a whole.
    pub limits: HostLimits,
    /// Where compiled code is kept; nowhere where absent.
    pub cache_directory: Option<PathBuf>,
}

struct Shared {
    config: EngineConfig,
    cache: Option<Cache>,
    state: Arc<dyn StateStore>,
    runtime: OnceLock<Runtime>,
    // Held while the runtime starts, so that it starts once.
    starting: Mutex<()>,
}

/// Loads and calls plugins. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// How long a plugin may take to list its tools: a host that starts waits for
/// each of them.
const LISTING_CPU_MILLISECONDS: u64 = 2_000;
const LISTING_WALL_MILLISECONDS: u64 = 5_000;

/// What is kept of a component's metadata.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Metadata {
    tools: Vec<ToolDefinition>,
    imports: Vec<String>,
}

/// Metadata written by another version of these rules is read again.
const METADATA_FORMAT: &str = concat!("1-", env!("CARGO_PKG_VERSION"));

impl Engine {
    /// An engine that keeps the state of its plugins in `state`. The runtime
    /// itself starts when it is first needed, or by [`Engine::start`].
    ///
    /// # Errors
    /// Where the cache directory cannot be used.
    pub fn new(config: EngineConfig, state: Arc<dyn StateStore>) -> Result<Self, EngineError> {
        let cache = config.cache_directory.as_deref().map(Cache::open).transpose()?;
        let shared = Shared { config, cache, state, runtime: OnceLock::new(), starting: Mutex::new(()) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Starts the runtime, unless it runs. Takes about a millisecond; blocks.
    ///
    /// # Errors
    /// Where the runtime refuses its settings or the system gives no thread.
    pub fn start(&self) -> Result<(), EngineError> {
        self.shared.runtime().map(|_| ())
    }

    /// Makes a plugin of a component's bytes. With a warm cache its metadata is
    /// read back; otherwise it is compiled and asked, which takes from tens of
    /// milliseconds to seconds. Blocks; not for an async task.
    ///
    /// # Errors
    /// Where the bytes are no plugin, or the plugin breaks the contract.
    pub fn load(&self, name: PluginName, bytes: Cow<'static, [u8]>) -> Result<Plugin, LoadError> {
        let size = bytes.len() as u64;
        let limit = self.shared.config.limits.component_bytes;
        if size > limit {
            return Err(LoadError::TooLarge { bytes: size, limit });
        }
        look_at_preamble(&bytes)?;
        let source = Source { engine: Arc::clone(&self.shared), digest: Digest::of(&bytes), bytes };
        let code = OnceLock::new();
        let (tools, imports) = match source.kept_metadata() {
            Some(kept) => (metadata::checked_before(kept.tools), kept.imports),
            None => {
                let compiled = source.code()?;
                let read = source.read_metadata(&name, &compiled)?;
                let _ = code.set(compiled);
                read
            }
        };
        let loaded = Loaded { name, source, tools, imports, code, loading: Mutex::new(()) };
        Ok(Plugin { loaded: Arc::new(loaded) })
    }
}

/// Tells a component from what is often mistaken for one, so that the error
/// can say what to do.
fn look_at_preamble(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes.get(..8) {
        Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => Err(LoadError::CoreModule),
        Some([0, b'a', b's', b'm', ..]) => Ok(()),
        None if bytes.starts_with(b"\0asm") => Err(LoadError::Malformed("it ends within its first 8 bytes".to_owned())),
        _ => Err(LoadError::NotWasm),
    }
}

impl Shared {
    fn runtime(&self) -> Result<&Runtime, EngineError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let started = Runtime::start(&self.config.limits)?;
        Ok(self.runtime.get_or_init(|| started))
    }
}

/// A component's bytes and the engine that they are for.
struct Source {
    engine: Arc<Shared>,
    digest: Digest,
    bytes: Cow<'static, [u8]>,
}

/// Feeds what the runtime hashes of its version and settings into a digest.
struct Feed(blake3::Hasher);

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        u64::from_le_bytes(std::array::from_fn(|index| hash.as_bytes()[index]))
    }
}

impl Source {
    fn metadata_entry(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(METADATA_FORMAT.as_bytes()).update(self.digest.as_bytes());
        format!("{}.tools", hasher.finalize().to_hex())
    }

    fn code_entry(&self, runtime: &Runtime) -> String {
        let mut feed = Feed(blake3::Hasher::new());
        self.digest.as_bytes().hash(&mut feed);
        runtime.engine.precompile_compatibility_hash().hash(&mut feed);
        format!("{}.code", feed.0.finalize().to_hex())
    }

    fn kept_metadata(&self) -> Option<Metadata> {
        let cache = self.engine.cache.as_ref()?;
        serde_json::from_slice(&cache.get(&self.metadata_entry())?).ok()
    }

    /// Compiled and linked code: from the cache, else compiled and kept there.
    fn code(&self) -> Result<EverythingPre<Guest>, LoadError> {
        let runtime = self.engine.runtime()?;
        let component = self.component(runtime)?;
        let linked = runtime.linker.instantiate_pre(&component).map_err(|error| LoadError::Import(reason(&error)))?;
        EverythingPre::new(linked).map_err(|error| LoadError::World(reason(&error)))
    }

    fn component(&self, runtime: &Runtime) -> Result<Component, LoadError> {
        let Some(cache) = &self.engine.cache else {
            return self.compile(runtime).and_then(|code| load_compiled(runtime, &code));
        };
        let entry = self.code_entry(runtime);
        if let Some(code) = cache.get(&entry) {
            match load_compiled(runtime, &code) {
                Ok(component) => return Ok(component),
                // Ours and undamaged, yet not for this runtime after all.
                Err(error) => tracing::warn!("kept code cannot be used and is made again: {error}"),
            }
        }
        let code = self.compile(runtime)?;
        cache.put(&entry, &code);
        load_compiled(runtime, &code)
    }

    fn compile(&self, runtime: &Runtime) -> Result<Vec<u8>, LoadError> {
        tracing::info!(digest = %self.digest, bytes = self.bytes.len(), "compiling a component");
        runtime.engine.precompile_component(&self.bytes).map_err(|error| LoadError::Malformed(reason(&error)))
    }

    /// Asks the plugin for its tools, with nothing granted.
    fn read_metadata(
        &self,
        name: &PluginName,
        code: &EverythingPre<Guest>,
    ) -> Result<(Vec<Tool>, Vec<String>), LoadError> {
        let runtime = self.engine.runtime()?;
        let limits = CallLimits {
            cpu_time_milliseconds: LISTING_CPU_MILLISECONDS,
            wall_time_milliseconds: LISTING_WALL_MILLISECONDS,
            ..CallLimits::default()
        };
        let setting = Setting {
            plugin: name.clone(),
            context: Context::new(TenantId::local(), SessionId::default_session()),
            grants: Arc::new(Grants::default()),
            request_meta: Map::new(),
            events: None,
            state: Arc::clone(&self.engine.state),
            wall_time: limits.wall_time(None),
            cancel: CancellationToken::new(),
        };
        let stack_bytes = self.engine.config.limits.stack_bytes;
        let asking = call::run(runtime, code, setting, &limits, stack_bytes, Function::ListTools);
        let listed = match block_on(asking)?.map_err(LoadError::Metadata)? {
            Returned::Tools(listed) => listed,
            Returned::Answer(_) => return Err(LoadError::Refused("it answered another question".to_owned())),
        };
        let metadata = Metadata { tools: metadata::definitions(listed)?, imports: self.imports(runtime, code) };
        // Only what passes every check is kept; it is not checked again.
        let tools = metadata::check(metadata.tools.clone())?;
        if let Some(cache) = &self.engine.cache
            && let Ok(json) = serde_json::to_vec(&metadata)
        {
            cache.put(&self.metadata_entry(), &json);
        }
        Ok((tools, metadata.imports))
    }

    fn imports(&self, runtime: &Runtime, code: &EverythingPre<Guest>) -> Vec<String> {
        let kind = code.instance_pre().component().component_type();
        let mut imports: Vec<_> = kind
            .imports(&runtime.engine)
            .filter(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)))
            .map(|(name, _)| name.to_owned())
            .collect();
        imports.sort();
        imports
    }
}

/// Runs a future to its end on a runtime of its own, so that loading works
/// from any thread.
fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, EngineError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("wharf-load".to_owned()).spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            Ok(runtime.block_on(future))
        });
        match worker.map_err(EngineError::Thread)?.join() {
            Ok(answer) => answer.map_err(EngineError::Thread),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[expect(unsafe_code, reason = "loading compiled code is what this room is for")]
fn load_compiled(runtime: &Runtime, code: &[u8]) -> Result<Component, LoadError> {
    // SAFETY: the bytes come from this process's own compiler, just now or by
    // way of the cache, which verified a keyed digest over these very bytes in
    // memory. Nobody without the key can have made or changed them.
    let component = unsafe { Component::deserialize(&runtime.engine, code) };
    component.map_err(|error| LoadError::Demanding(reason(&error)))
}

struct Loaded {
    name: PluginName,
    source: Source,
    tools: Vec<Tool>,
    imports: Vec<String>,
    code: OnceLock<EverythingPre<Guest>>,
    // Held while the code is loaded, so that it is loaded once.
    loading: Mutex<()>,
}

/// A component that can be called. Cheap to clone; calls in flight keep what
/// they began with.
#[derive(Clone)]
pub struct Plugin {
    loaded: Arc<Loaded>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Plugin")
            .field("name", &self.loaded.name)
            .field("digest", &self.loaded.source.digest)
            .finish_non_exhaustive()
    }
}

impl Plugin {
    /// The name under which it was loaded.
    #[must_use]
    pub fn name(&self) -> &PluginName {
        &self.loaded.name
    }

    /// Its tools, in the order in which it lists them.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.loaded.tools
    }

    /// What it is.
    #[must_use]
    pub fn inspect(&self) -> Inspection {
        Inspection {
            digest: self.loaded.source.digest,
            bytes: self.loaded.source.bytes.len() as u64,
            imports: self.loaded.imports.clone(),
            tools: self.loaded.tools.iter().map(|tool| tool.definition.clone()).collect(),
        }
    }

    /// Loads its code and compiles its schemas, unless that has happened.
    /// Blocks.
    ///
    /// # Errors
    /// As for [`Engine::load`].
    pub fn prepare(&self) -> Result<(), LoadError> {
        self.loaded.code()?;
        for tool in &self.loaded.tools {
            for schema in [Some(&tool.input), tool.output.as_ref()].into_iter().flatten() {
                schema.prepare().map_err(|error| LoadError::Refused(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Calls a tool. The caller has checked the arguments against its schema.
    /// Dropping the future ends the call.
    ///
    /// # Errors
    /// Whatever the tool answers or the call ends with; see the contract.
    pub async fn call(&self, invocation: Invocation, tool: &Tool) -> Result<Answer, Error> {
        let code = match self.loaded.code.get() {
            Some(code) => code,
            None => self.wait_for_code().await?,
        };
        let shared = &self.loaded.source.engine;
        let runtime = shared.runtime().map_err(unusable)?;
        let wall_time = invocation.limits.wall_time(tool.wall_time);
        let (setting, limits, name, arguments) =
            invocation.into_setting(self.loaded.name.clone(), wall_time, Arc::clone(&shared.state));
        let function = Function::CallTool { name: &name, arguments: &arguments };
        let stack_bytes = shared.config.limits.stack_bytes;
        match call::run(runtime, code, setting, &limits, stack_bytes, function).await? {
            Returned::Answer(answer) => call::answer(answer, &limits),
            Returned::Tools(_) => Err(unusable("the plugin answered another question")),
        }
    }

    async fn wait_for_code(&self) -> Result<&EverythingPre<Guest>, Error> {
        let loaded = Arc::clone(&self.loaded);
        let prepared = tokio::task::spawn_blocking(move || loaded.code().map(|_| ())).await;
        prepared.map_err(unusable)?.map_err(unusable)?;
        self.loaded.code.get().ok_or_else(|| unusable("its code is not there"))
    }
}

fn unusable(error: impl std::fmt::Display) -> Error {
    Error::new(wharf_core::Code::Internal, format!("the plugin cannot be used: {error}"))
}

impl Loaded {
    fn code(&self) -> Result<&EverythingPre<Guest>, LoadError> {
        if let Some(code) = self.code.get() {
            return Ok(code);
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = self.code.get() {
            return Ok(code);
        }
        let code = self.source.code()?;
        Ok(self.code.get_or_init(|| code))
    }
}
