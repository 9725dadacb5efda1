//! Engines and plugins: from the bytes of a component to something that can be
//! called.

use std::{
    any::Any,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
    time::Duration,
};

use wharf_core::{Answer, Digest, Error, PluginName, SchemaLimits, Tool, limit::TimeLeft};

use crate::{
    answer,
    call::Call,
    component::Component,
    error::LoadError,
    execution::{self, Callee},
    function::{Code, Function, Returned},
    inspection::Inspection,
    manifest,
    metadata::{self, Offered},
    rooms::Rooms,
    shared::{EngineConfig, Shared},
    source::Source,
};

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

impl Engine {
    /// An engine whose calls reach these rooms. The runtime itself starts when
    /// it is first needed.
    #[must_use]
    pub fn new(config: EngineConfig, rooms: Rooms) -> Self {
        Self { shared: Arc::new(Shared::new(config, rooms)) }
    }

    /// Why compiled code is not kept, though a directory was named for it.
    #[must_use]
    pub fn cache_problem(&self) -> Option<&str> {
        self.shared.cache_problem.as_deref()
    }

    /// Makes a plugin of a component's bytes. With a warm cache its metadata is
    /// read back; otherwise it is compiled and asked, which takes from tens of
    /// milliseconds to seconds. Blocks; not for an async task.
    ///
    /// # Errors
    /// Where the bytes are no plugin, or the plugin breaks the contract.
    pub fn load(&self, name: PluginName, component: Component) -> Result<Plugin, LoadError> {
        let size = component.bytes().len() as u64;
        let limit = self.shared.config.limits.component_bytes;
        if size > limit {
            return Err(LoadError::TooLarge { bytes: size, limit });
        }
        look_at_preamble(component.bytes())?;
        let source = Source { engine: Arc::clone(&self.shared), component };
        let code = OnceLock::new();
        let (tools, offered, imports) = match source.kept_metadata() {
            Some(kept) => {
                let limits = SchemaLimits::new(&self.shared.config.limits);
                (metadata::checked_before(kept.tools, limits), kept.offered, kept.imports)
            }
            None => {
                let compiled = source.code()?;
                let read = source.read_metadata(&name, &compiled)?;
                let _ = code.set(compiled);
                read
            }
        };
        let loaded = Loaded { name, source, tools, offered, imports, code, loading: Mutex::new(()) };
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

pub(crate) struct Loaded {
    name: PluginName,
    source: Source,
    tools: Vec<Tool>,
    pub(crate) offered: Offered,
    imports: Vec<String>,
    code: OnceLock<Code>,
    // Held while the code is loaded, so that it is loaded once.
    loading: Mutex<()>,
}

/// A component that can be called. Cheap to clone; calls in flight keep what
/// they began with.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) loaded: Arc<Loaded>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Plugin")
            .field("name", &self.loaded.name)
            .field("digest", &self.loaded.source.component.digest())
            .finish_non_exhaustive()
    }
}

impl Plugin {
    /// The name under which it was loaded.
    #[must_use]
    pub fn name(&self) -> &PluginName {
        &self.loaded.name
    }

    /// Names its component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.loaded.source.component.digest()
    }

    /// Says whether anything still holds it, such as a call in flight, without holding it.
    #[must_use]
    pub fn watch(&self) -> Weak<dyn Any + Send + Sync> {
        let loaded: Arc<dyn Any + Send + Sync> = Arc::clone(&self.loaded) as _;
        Arc::downgrade(&loaded)
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
            digest: self.loaded.source.component.digest(),
            bytes: self.loaded.source.component.bytes().len() as u64,
            imports: self.loaded.imports.clone(),
            reasons: manifest::reasons(self.loaded.source.component.bytes()),
            tools: self.loaded.tools.iter().map(|tool| tool.definition.clone()).collect(),
            prompts: self.prompts().to_vec(),
            claims: self.claims().iter().map(str::to_owned).collect(),
            templates: self.templates().to_vec(),
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

    /// Calls a tool. `arguments` is the JSON text of an object: the caller has checked it
    /// against the tool's schema, and checks the answer in what is left of the call's time. Dropping the future ends the
    /// call.
    ///
    /// # Errors
    /// Whatever the tool answers or the call ends with; see the contract.
    pub async fn call(&self, call: Call, tool: &Tool, arguments: &str) -> Result<(Answer, TimeLeft), Error> {
        let (policy, audit) = (Arc::clone(&call.policy), call.audit.clone());
        let function = Function::CallTool { name: &tool.definition.name, arguments };
        match self.run_timed(call, tool.wall_time, function).await? {
            (Returned::Answer(answer), left) => {
                if let (Some(audit), Ok(answer)) = (&audit, &answer) {
                    audit.gave_out(answer::answer_bytes(answer));
                }
                answer::answer(answer, &policy.limits).map(|answer| (answer, left))
            }
            _ => Err(unusable("the plugin answered another question")),
        }
    }

    /// Calls one function in an instance of its own.
    pub(crate) async fn run(
        &self,
        call: Call,
        declared: Option<Duration>,
        function: Function<'_>,
    ) -> Result<Returned, Error> {
        self.run_timed(call, declared, function).await.map(|(returned, _)| returned)
    }

    async fn run_timed(
        &self,
        call: Call,
        declared: Option<Duration>,
        function: Function<'_>,
    ) -> Result<(Returned, TimeLeft), Error> {
        let code = match self.loaded.code.get() {
            Some(code) => code,
            None => self.wait_for_code().await?,
        };
        let shared = &self.loaded.source.engine;
        let runtime = shared.runtime().map_err(unusable)?;
        let callee = Callee { name: &self.loaded.name, claims: self.claims(), code };
        execution::run(shared, runtime, callee, call, declared, function).await
    }

    async fn wait_for_code(&self) -> Result<&Code, Error> {
        let loaded = Arc::clone(&self.loaded);
        let prepared = tokio::task::spawn_blocking(move || loaded.code().map(|_| ())).await;
        prepared.map_err(unusable)?.map_err(unusable)?;
        self.loaded.code.get().ok_or_else(|| unusable("its code is not there"))
    }
}

pub(crate) fn unusable(error: impl std::fmt::Display) -> Error {
    Error::new(wharf_core::Code::Internal, format!("the plugin cannot be used: {error}"))
}

impl Loaded {
    fn code(&self) -> Result<&Code, LoadError> {
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
