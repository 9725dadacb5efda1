//! What an engine and all its plugins share: settings, cache, store, and the
//! runtime, which starts when it is first needed.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use wharf_core::{AnswerMemory, CallLimits, HostLimits, Quota, quota::Bounds};
use wharf_state::WriteTurns;

use crate::{
    backends::Backends,
    cache::CodeCache,
    error::EngineError,
    isolation::{IsolationConfig, WorkerPool},
    runtime::WasmRuntime,
};
#[cfg(target_os = "linux")]
use crate::{compile::CompileTarget, isolation::WorkerSetup};

/// How an engine is set up.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Limits that hold for the host as a whole.
    pub limits: HostLimits,
    /// The most elements that the limits of any plugin allow the tables of a call. The engine has
    /// address space for as many in each table.
    pub table_elements: u64,
    /// Where compiled code is kept; nowhere where absent, or where it cannot be.
    pub cache_directory: Option<PathBuf>,
    /// Where compiled functions of large components are kept, by which the next component is compiled
    /// faster that shares them; nowhere where absent, or where it cannot be. For the components of one
    /// author alone: what compiles one component may leave functions to the next one.
    pub functions_directory: Option<PathBuf>,
    /// How plugins are isolated in processes of their own; in the host itself where absent, and on
    /// every system but Linux.
    pub isolation: Option<IsolationConfig>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            limits: HostLimits::default(),
            table_elements: CallLimits::ceilings().table_elements,
            cache_directory: None,
            functions_directory: None,
            isolation: None,
        }
    }
}

/// What an engine and its plugins share.
pub(crate) struct SharedEngine {
    pub(crate) config: EngineConfig,
    pub(crate) cache: Option<CodeCache>,
    pub(crate) functions: Option<CodeCache>,
    pub(crate) cache_problem: Option<String>,
    pub(crate) backends: Arc<Backends>,
    pub(crate) turns: Arc<WriteTurns>,
    pub(crate) open_handles: Arc<Quota>,
    pub(crate) answer_memory: AnswerMemory,
    /// What runs plugins in processes of their own.
    pub(crate) workers: Option<WorkerPool>,
    runtime: OnceLock<WasmRuntime>,
    // Held while the runtime starts, so that it starts once.
    starting: Mutex<()>,
}

impl SharedEngine {
    pub(crate) fn new(config: EngineConfig, backends: Backends) -> Self {
        let opened = config.cache_directory.as_deref().map(CodeCache::open).transpose();
        let (cache, cache_problem) = match opened {
            Ok(cache) => (cache, None),
            Err(problem) => (None, Some(problem)),
        };
        // It saves time alone, and why it cannot be used is in the log.
        let functions = config.functions_directory.as_deref().and_then(|directory| CodeCache::open(directory).ok());
        let open_handles = open_handles(&config.limits);
        let answer_memory = AnswerMemory::new(&config.limits);
        let (runtime, starting) = (OnceLock::new(), Mutex::new(()));
        let workers = workers(&config, &backends);
        Self {
            config,
            cache,
            functions,
            cache_problem,
            backends: Arc::new(backends),
            turns: Arc::default(),
            open_handles,
            answer_memory,
            workers,
            runtime,
            starting,
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn worker_setup(&self, target: CompileTarget) -> WorkerSetup {
        WorkerSetup::new(&self.config.limits, self.config.table_elements, target)
    }

    /// The runtime, started at the first call of this.
    pub(crate) fn runtime(&self) -> Result<&WasmRuntime, EngineError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let _starting = self.starting.lock();
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let started = WasmRuntime::start(&self.config)?;
        Ok(self.runtime.get_or_init(|| started))
    }
}

#[cfg(target_os = "linux")]
fn workers(config: &EngineConfig, backends: &Backends) -> Option<WorkerPool> {
    config
        .isolation
        .clone()
        .map(|isolation| WorkerPool::new(isolation, config.limits.clone(), backends.spawner.clone()))
}

#[cfg(not(target_os = "linux"))]
fn workers(_config: &EngineConfig, _backends: &Backends) -> Option<WorkerPool> {
    None
}

/// The number of descriptors that the system gives this process; none where it sets no limit.
#[cfg(unix)]
fn descriptors() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Windows limits handles by memory alone.
#[cfg(not(unix))]
fn descriptors() -> Option<u64> {
    None
}

/// The limits of open handles. Those of guests leave the host at least half of the
/// descriptors that the system gives it.
fn open_handles(limits: &HostLimits) -> Arc<Quota> {
    let most = descriptors().map_or(u64::MAX, |descriptors| descriptors / 2);
    Quota::new(Bounds {
        resource: "handles of files",
        section: "[host.limits]",
        session: Some(("file_handles_per_session", limits.file_handles_per_session)),
        tenant: ("file_handles_per_tenant", limits.file_handles_per_tenant.min(most.saturating_mul(3) / 4)),
        host: ("file_handles", limits.file_handles.min(most)),
    })
}
