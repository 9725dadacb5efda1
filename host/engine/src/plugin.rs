//! Plugins: components that can be called.

use std::{
    any::Any,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Answer, AnswerReader, Claims, Digest, Error, PluginName, Tool,
    limit::TimeLeft,
    service::offer::{PromptDefinition, ResourceTemplate},
};

use crate::{
    about::ComponentReading,
    answer,
    call::Call,
    component::Component,
    error::LoadError,
    execution::{self, CalledPlugin},
    function::{CallTool, GuestFunction, LinkedPlugin},
    inspection::Inspection,
    metadata::{Listed, Offerings},
    source::ComponentSource,
    start::StartReport,
};

struct LoadedPlugin {
    name: PluginName,
    source: ComponentSource,
    tools: Vec<Tool>,
    offered: Offerings,
    imports: Vec<String>,
    // Read when somebody asks for the first time.
    reading: OnceLock<ComponentReading>,
    linked: OnceLock<LinkedPlugin>,
    // Held while the code is loaded, so that it is loaded once.
    loading: Mutex<()>,
}

/// A component that can be called. Cheap to clone; calls in flight keep what
/// they began with.
#[derive(Clone)]
pub struct Plugin {
    loaded: Arc<LoadedPlugin>,
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
    /// A plugin whose code is loaded with its first call, where it is not `linked` yet.
    pub(crate) fn new(
        name: PluginName,
        source: ComponentSource,
        linked: Option<LinkedPlugin>,
        (tools, offered, imports): Listed,
    ) -> Self {
        let linked = linked.map_or_else(OnceLock::new, OnceLock::from);
        let (reading, loading) = (OnceLock::new(), Mutex::new(()));
        let loaded = LoadedPlugin { name, source, tools, offered, imports, reading, linked, loading };
        Self { loaded: Arc::new(loaded) }
    }

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

    /// Whether this component makes the same plugin.
    #[must_use]
    pub fn is_of(&self, component: &Component) -> bool {
        let own = &self.loaded.source.component;
        own.digest() == component.digest() && own.exports_functions() == component.exports_functions()
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

    /// Its prompts, in the order in which it lists them.
    #[must_use]
    pub fn prompts(&self) -> &[PromptDefinition] {
        &self.loaded.offered.prompts
    }

    /// Its templates of resources, in the order in which it lists them.
    #[must_use]
    pub fn templates(&self) -> &[ResourceTemplate] {
        &self.loaded.offered.templates
    }

    /// Which addresses are its own; none where it has no resources.
    #[must_use]
    pub fn claims(&self) -> &Arc<Claims> {
        &self.loaded.offered.claims
    }

    /// Whether it can open streams of events, which outlive its calls.
    #[must_use]
    pub fn opens_streams(&self) -> bool {
        self.loaded.offered.opens_streams
    }

    /// Whether it completes words.
    #[must_use]
    pub fn completes(&self) -> bool {
        self.loaded.offered.completes
    }

    /// Describes it to the operator.
    #[must_use]
    pub fn inspect(&self) -> Inspection {
        let component = &self.loaded.source.component;
        let reading = self.loaded.reading.get_or_init(|| ComponentReading::of(&component.bytes())).clone();
        Inspection {
            about: reading.about,
            reasons: reading.reasons,
            digest: component.digest(),
            bytes: component.size(),
            imports: self.loaded.imports.clone(),
            tools: self.loaded.tools.iter().map(|tool| tool.definition.clone()).collect(),
            prompts: self.prompts().to_vec(),
            claims: self.claims().iter().map(str::to_owned).collect(),
            templates: self.templates().to_vec(),
            functions: component.exports_functions(),
            left_out: self.loaded.offered.left_out.clone(),
        }
    }

    /// Makes instances of it, with nothing granted, and says how they begin. Blocks, for some
    /// seconds at most beside loading its code.
    ///
    /// # Errors
    /// Where its code cannot be loaded. A start that fails is in the report.
    pub fn measure_start(&self) -> Result<StartReport, LoadError> {
        self.loaded.source.measure_start(&self.loaded.name, self.loaded.linked()?)
    }

    /// Loads its code and compiles its schemas, unless that has happened.
    /// Blocks.
    ///
    /// # Errors
    /// As for [`Engine::load`].
    pub fn prepare(&self) -> Result<(), LoadError> {
        self.loaded.linked()?;
        for tool in &self.loaded.tools {
            for schema in [Some(&tool.input), tool.output.as_ref()].into_iter().flatten() {
                schema.prepare().map_err(|error| LoadError::Refused(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Calls a tool. `arguments` is the JSON text of an object: the caller has checked it
    /// against the tool's schema, and checks the answer in what is left of the call's time.
    /// Dropping the future ends the call.
    ///
    /// # Errors
    /// Whatever the tool answers or the call ends with; see the contract.
    pub async fn call(&self, call: Call, tool: &Tool, arguments: &str) -> Result<(Answer, TimeLeft), Error> {
        let (policy, audit, reader) = (Arc::clone(&call.policy), call.audit.clone(), self.reader(&call));
        let function = CallTool { name: &tool.definition.name, arguments };
        let (answer, left) = self.run(call, tool.wall_time, function).await?;
        if let (Some(audit), Ok(answer)) = (&audit, &answer) {
            audit.gave_out(answer::answer_bytes(answer));
        }
        Ok((answer::answer(answer, &policy.limits, reader)?, left))
    }

    /// The account of what a call will answer.
    pub(crate) fn reader(&self, call: &Call) -> AnswerReader {
        let memory = &self.loaded.source.engine.answer_memory;
        memory.begin(&call.caller.context.tenant, &call.policy.limits)
    }

    /// Calls one function in an instance of its own. `declared` is how long it says that it
    /// takes at most.
    pub(crate) async fn run<F: GuestFunction>(
        &self,
        call: Call,
        declared: Option<Duration>,
        function: F,
    ) -> Result<(F::Returned, TimeLeft), Error> {
        let linked = match self.loaded.linked.get() {
            Some(linked) => linked,
            None => self.wait_for_code().await?,
        };
        let shared = &self.loaded.source.engine;
        let runtime = shared.runtime().map_err(unusable)?;
        let plugin =
            CalledPlugin { name: &self.loaded.name, claims: &self.loaded.offered.claims, linked, is_loading: false };
        execution::run(shared, runtime, plugin, call, declared, function).await
    }

    async fn wait_for_code(&self) -> Result<&LinkedPlugin, Error> {
        let loaded = Arc::clone(&self.loaded);
        let prepared = tokio::task::spawn_blocking(move || loaded.linked().map(|_| ())).await;
        prepared.map_err(unusable)?.map_err(unusable)?;
        self.loaded.linked.get().ok_or_else(|| unusable("its code is not there"))
    }
}

fn unusable(error: impl std::fmt::Display) -> Error {
    Error::new(wharf_core::Code::Internal, format!("the plugin cannot be used: {error}"))
}

impl LoadedPlugin {
    /// Its code, loaded at the first call of this. Blocks.
    fn linked(&self) -> Result<&LinkedPlugin, LoadError> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let _loading = self.loading.lock();
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let linked = self.source.linked(&CancellationToken::new())?;
        Ok(self.linked.get_or_init(|| linked))
    }
}
