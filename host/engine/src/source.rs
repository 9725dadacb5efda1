//! From a component's bytes to linked code and checked metadata, by way of the
//! cache where it has them.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use wasmtime::component::{self as wasm, types::ComponentItem};
use wharf_core::{CallLimits, Claims, PluginName, SchemaLimits, text};

#[cfg(target_os = "linux")]
use crate::code::CodeFile;
use crate::{
    adapter,
    cache::CacheEntry,
    call::Call,
    coarse::ClockResolution,
    compile, compiled,
    component::Component,
    error::{EngineError, LoadError, reason},
    execution::{self, CalledPlugin},
    function::{Code, GuestFunction, LinkedPlugin, ListClaims, ListPrompts, ListTemplates, ListTools},
    kept,
    metadata::{self, Listed, Offerings},
    packed::unpack,
    prepared::NewlyPrepared,
    runtime::WasmRuntime,
    shared::SharedEngine,
};

/// How long a plugin may take to list its tools: a host that starts waits for
/// each of them.
const LISTING_CPU_MILLISECONDS: u64 = 2_000;
const LISTING_WALL_MILLISECONDS: u64 = 5_000;

/// Compiled code of real plugins has three times as many bytes as its component, and a few pages
/// more. Up to these bounds it is kept, and no more is read of what stands in its place.
const CODE_GROWTH: u64 = 16;
const CODE_LEAST_BYTES: u64 = 4 << 20;
/// Sets code that was compared with its component apart from what earlier hosts kept.
const CODE_IS_CHECKED: u32 = 1;
/// What an error shows of the name of an import, which the component has chosen.
const MAX_IMPORT_BYTES: usize = 96;

/// What opens a stream of events.
const EVENTS: &str = "wharf:plugin/events@";
const OPEN_STREAM: &str = "open-stream";

/// More than four lists come to, of which each is the answer of a call.
const METADATA_MOST_BYTES: u64 = 32 << 20;

/// Smaller components are compiled as fast as kept functions are read.
const FUNCTIONS_FROM_BYTES: u64 = 4 << 20;

/// A component's bytes and the engine that they are for.
pub(crate) struct ComponentSource {
    pub(crate) engine: Arc<SharedEngine>,
    pub(crate) component: Component,
}

/// Code that the runtime has loaded.
struct LoadedCode {
    component: wasm::Component,
    /// The same for workers.
    code: Option<Code>,
}

/// Feeds what the runtime hashes of its version and settings into a digest.
struct DigestHasher(blake3::Hasher);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        u64::from_le_bytes(std::array::from_fn(|index| hash.as_bytes()[index]))
    }
}

impl ComponentSource {
    fn metadata_entry(&self) -> CacheEntry {
        let mut feed = DigestHasher(blake3::Hasher::new());
        kept::FORMAT.hash(&mut feed);
        self.component.digest().as_bytes().hash(&mut feed);
        self.component.exports_functions().hash(&mut feed);
        // A component that passed under other limits is read and checked anew.
        self.schema_limits().hash(&mut feed);
        CacheEntry { name: format!("{}.tools", feed.0.finalize().to_hex()), most_bytes: METADATA_MOST_BYTES }
    }

    fn code_entry(&self, runtime: &WasmRuntime) -> CacheEntry {
        let mut feed = DigestHasher(blake3::Hasher::new());
        CODE_IS_CHECKED.hash(&mut feed);
        self.component.digest().as_bytes().hash(&mut feed);
        runtime.engine.precompile_compatibility_hash().hash(&mut feed);
        let most_bytes = self.component.size().saturating_mul(CODE_GROWTH).saturating_add(CODE_LEAST_BYTES);
        CacheEntry { name: format!("{}.code", feed.0.finalize().to_hex()), most_bytes }
    }

    /// What an earlier host read and checked.
    pub(crate) fn kept_metadata(&self) -> Option<Listed> {
        let entry = self.metadata_entry();
        let prepared = self.component.prepared().filter(|prepared| prepared.metadata_name == entry.name);
        let prepared =
            prepared.and_then(|prepared| kept::read(Bytes::from_static(prepared.metadata), self.schema_limits()));
        prepared.or_else(|| kept::read(self.engine.cache.as_ref()?.get(&entry)?.into(), self.schema_limits()))
    }

    fn schema_limits(&self) -> SchemaLimits {
        SchemaLimits::new(&self.engine.config.limits)
    }

    /// Compiled and linked code: from the cache, else compiled and kept there, unless `stop`
    /// fires before.
    pub(crate) fn linked(&self, stop: &CancellationToken) -> Result<LinkedPlugin, LoadError> {
        let runtime = self.engine.runtime()?;
        self.link(runtime, self.compiled(runtime, stop)?)
    }

    /// What this program would find in a warm cache, for one that carries it.
    pub(crate) fn prepare(&self, name: &PluginName) -> Result<NewlyPrepared, LoadError> {
        let runtime = self.engine.runtime()?;
        let (code, component) = self.compile(runtime, &CancellationToken::new())?;
        let linked = self.link(runtime, self.loaded(component, &code)?)?;
        let listed = self.listed(name, &linked)?;
        let metadata = kept::write(&listed).map_err(|error| LoadError::Refused(error.to_string()))?;
        let (code_name, metadata_name) = (self.code_entry(runtime).name, self.metadata_entry().name);
        Ok(NewlyPrepared { code_name, code: code.into(), metadata_name, metadata })
    }

    fn link(&self, runtime: &WasmRuntime, loaded: LoadedCode) -> Result<LinkedPlugin, LoadError> {
        let LoadedCode { component, code } = loaded;
        let instances =
            runtime.linker.instantiate_pre(&component).map_err(|error| unlinked(runtime, &component, &error))?;
        LinkedPlugin::find(instances, self.component.exports_functions(), code)
    }

    /// Loads code, and keeps it for workers where there are some.
    fn load(&self, runtime: &WasmRuntime, code: &[u8]) -> Result<LoadedCode, LoadError> {
        self.loaded(load_compiled(runtime, code)?, code)
    }

    fn loaded(&self, component: wasm::Component, code: &[u8]) -> Result<LoadedCode, LoadError> {
        Ok(LoadedCode { component, code: self.code_for_workers(code)? })
    }

    #[cfg(target_os = "linux")]
    fn code_for_workers(&self, code: &[u8]) -> Result<Option<Code>, LoadError> {
        if self.engine.workers.is_none() {
            return Ok(None);
        }
        let file = CodeFile::new(code, self.component.exports_functions());
        let file = file.map_err(|error| LoadError::Demanding(format!("no memory for its code: {error}")))?;
        Ok(Some(Arc::new(file)))
    }

    #[cfg(not(target_os = "linux"))]
    fn code_for_workers(&self, _code: &[u8]) -> Result<Option<Code>, LoadError> {
        Ok(None)
    }

    fn compiled(&self, runtime: &WasmRuntime, stop: &CancellationToken) -> Result<LoadedCode, LoadError> {
        let entry = self.code_entry(runtime);
        if let Some(prepared) = self.component.prepared().filter(|prepared| prepared.code_name == entry.name) {
            match self.load(runtime, &unpack(prepared.code)) {
                Ok(component) => return Ok(component),
                Err(error) => tracing::warn!("code of this program cannot be used and is made again: {error}"),
            }
        }
        let Some(cache) = &self.engine.cache else {
            return self.compile(runtime, stop).and_then(|(code, component)| self.loaded(component, &code));
        };
        if let Some(code) = cache.get(&entry) {
            match self.load(runtime, &code) {
                Ok(component) => return Ok(component),
                // Ours and undamaged, yet not for this runtime after all.
                Err(error) => tracing::warn!("kept code cannot be used and is made again: {error}"),
            }
        }
        let (code, component) = self.compile(runtime, stop)?;
        cache.put(&entry, &code);
        self.loaded(component, &code)
    }

    /// Code that describes itself as the component is. Only such code is loaded again unchecked.
    fn compile(&self, runtime: &WasmRuntime, stop: &CancellationToken) -> Result<(Bytes, wasm::Component), LoadError> {
        tracing::info!(digest = %self.component.digest(), bytes = self.component.size(), "compiling a component");
        let limits = &self.engine.config.limits;
        let (spawner, bytes) = (&self.engine.backends.spawner, self.component.bytes());
        let functions = self.engine.functions.as_ref().filter(|_| self.component.size() >= FUNCTIONS_FROM_BYTES);
        let functions = functions.map(|cache| (cache, functions_entry(runtime)));
        let kept = functions.as_ref().map(|(cache, entry)| cache.get(entry).unwrap_or_default().into());
        let compiled = block_on(async {
            tokio::select! {
                biased;
                // The child ends with the future that waits for it.
                () = stop.cancelled() => Err(LoadError::Stopped),
                compiled = compile::compile(spawner, runtime.target, &bytes, kept, limits) => compiled,
            }
        })??;
        let component = load_compiled(runtime, &compiled.code)?;
        compiled::check(&runtime.engine, &component, &bytes)?;
        if let (Some((cache, entry)), Some(to_keep)) = (functions, compiled.functions) {
            cache.put(&entry, &to_keep);
        }
        Ok((compiled.code, component))
    }

    /// Asks the plugin for its tools and for what else it offers, with nothing
    /// granted.
    pub(crate) fn read_metadata(&self, name: &PluginName, linked: &LinkedPlugin) -> Result<Listed, LoadError> {
        let listed = self.listed(name, linked)?;
        if let Some(cache) = &self.engine.cache
            && let Ok(kept) = kept::write(&listed)
        {
            cache.put(&self.metadata_entry(), &kept);
        }
        Ok(listed)
    }

    /// What the plugin says of itself. It has passed every check: what is kept of it is not
    /// checked again.
    fn listed(&self, name: &PluginName, linked: &LinkedPlugin) -> Result<Listed, LoadError> {
        let definitions = match linked.functions() {
            Some(functions) => metadata::cleaned(functions.definitions(&self.component.bytes()))?,
            None => metadata::definitions(self.ask(name, linked, ListTools)?)?,
        };
        let offered = self.read_offered(name, linked)?;
        let imports = imports(self.engine.runtime()?, linked);
        Ok((metadata::check(definitions, self.schema_limits())?, offered, imports))
    }

    fn read_offered(&self, name: &PluginName, linked: &LinkedPlugin) -> Result<Offerings, LoadError> {
        let left_out = linked.functions().map(|functions| functions.left_out().to_vec()).unwrap_or_default();
        let opens_streams = imports_function(self.engine.runtime()?, linked, EVENTS, OPEN_STREAM);
        let completes = linked.has_completion();
        let mut offered = Offerings { completes, opens_streams, left_out, ..Offerings::default() };
        if linked.has_prompts() {
            offered.prompts = metadata::prompts(self.ask(name, linked, ListPrompts)?)?;
        }
        if linked.has_resources() {
            let claims = Claims::new(self.ask(name, linked, ListClaims)?);
            offered.claims = Arc::new(claims.map_err(|error| LoadError::Refused(error.to_string()))?);
            offered.templates = metadata::templates(self.ask(name, linked, ListTemplates)?, &offered.claims)?;
        }
        Ok(offered)
    }

    /// A call on nobody's behalf, with nothing granted and little time.
    pub(crate) fn sandboxed(&self) -> Call {
        let limits = CallLimits {
            cpu_time_milliseconds: LISTING_CPU_MILLISECONDS,
            wall_time_milliseconds: LISTING_WALL_MILLISECONDS,
            // A plugin that begins with a larger table than usual still has to say what it offers.
            table_elements: self.engine.config.table_elements,
            ..CallLimits::default()
        };
        // Nobody has configured this call. A list needs no clock.
        Call::of_nobody(limits, "{}".into(), Some(ClockResolution::COARSEST), CancellationToken::new())
    }

    /// Calls a function that lists something.
    fn ask<F: GuestFunction>(
        &self,
        name: &PluginName,
        linked: &LinkedPlugin,
        function: F,
    ) -> Result<F::Returned, LoadError> {
        let runtime = self.engine.runtime()?;
        let call = self.sandboxed();
        let claims = Arc::default();
        let plugin = CalledPlugin { name, claims: &claims, linked, is_loading: true };
        let asking = async {
            // The semaphore is never closed.
            let _place = runtime.listing.acquire().await.ok();
            execution::run(&self.engine, runtime, plugin, call, None, function).await
        };
        block_on(asking)?.map(|(returned, _)| returned).map_err(LoadError::Metadata)
    }
}

/// The functions that were compiled by these settings.
fn functions_entry(runtime: &WasmRuntime) -> CacheEntry {
    let mut feed = DigestHasher(blake3::Hasher::new());
    runtime.engine.precompile_compatibility_hash().hash(&mut feed);
    let most_bytes = compile::MAX_FUNCTIONS_BYTES as u64;
    CacheEntry { name: format!("{}.functions", feed.0.finalize().to_hex()), most_bytes }
}

/// Why a component does not link.
fn unlinked(runtime: &WasmRuntime, component: &wasm::Component, error: &wasmtime::Error) -> LoadError {
    let kind = component.component_type();
    let draft = kind.imports(&runtime.engine).find_map(|(import, _)| Some((import, adapter::offered_instead(import)?)));
    match draft {
        Some((import, offered)) => {
            LoadError::Draft { import: text::line(import, MAX_IMPORT_BYTES), offered: offered.join(", ") }
        }
        None => LoadError::Import(reason(error)),
    }
}

/// The instances that a component imports.
fn imports(runtime: &WasmRuntime, linked: &LinkedPlugin) -> Vec<String> {
    let kind = linked.component().component_type();
    let mut imports: Vec<_> = kind
        .imports(&runtime.engine)
        .filter(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)))
        .map(|(name, _)| name.to_owned())
        .collect();
    imports.sort();
    imports
}

/// Whether a component imports a function. One that is built of modules imports those alone that
/// it calls.
fn imports_function(runtime: &WasmRuntime, linked: &LinkedPlugin, interface: &str, function: &str) -> bool {
    let kind = linked.component().component_type();
    kind.imports(&runtime.engine).any(|(name, item)| match item.ty {
        ComponentItem::ComponentInstance(instance) if name.starts_with(interface) => {
            instance.exports(&runtime.engine).any(|(exported, _)| exported == function)
        }
        _ => false,
    })
}

/// Runs a future to its end on a runtime of its own, so that loading works
/// from any thread.
pub(crate) fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, EngineError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("wharf-load".to_owned()).spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(future))
        });
        match worker.map_err(EngineError::Thread)?.join() {
            Ok(answer) => answer.map_err(EngineError::Thread),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[expect(unsafe_code, reason = "loading compiled code is what this crate is for")]
fn load_compiled(runtime: &WasmRuntime, code: &[u8]) -> Result<wasm::Component, LoadError> {
    // SAFETY: the bytes come from this process's own compiler, just now or by
    // way of the cache, which verified a keyed digest over these very bytes in
    // memory: no program without the key can have made or changed them. Or they
    // are part of this program, made by the same compiler when it was built.
    let component = unsafe { wasm::Component::deserialize(&runtime.engine, code) };
    component.map_err(|error| LoadError::Demanding(reason(&error)))
}
