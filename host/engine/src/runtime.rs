//! wasmtime, set up for many short calls of untrusted guests.
//!
//! The settings are those measured fastest: pooled instances, copy-on-write
//! memory images, memory kept resident and reset by the kernel's page map scan
//! where it has one.

use tokio::sync::Semaphore;
use wasmtime::{Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, component::Linker};
use wharf_core::{HostLimits, limit::CallLimits};

use crate::{
    adapter,
    compile::CompileTarget,
    error::{EngineError, reason},
    guest::Guest,
    schedule::Schedule,
    shared::EngineConfig,
    ticker::Ticker,
    watch::linked::LinkedFunctions,
};

/// Memory of one instance that stays resident between calls.
const KEEP_RESIDENT_BYTES: usize = 4 << 20;
/// Plugins that may be asked for their lists at once. They are asked while they are loaded,
/// without having been admitted, so the pool has places for them alone.
const LISTING: u32 = 4;
/// Table memory of one instance that stays resident between calls.
const TABLE_KEEP_RESIDENT_BYTES: usize = 64 << 10;

/// The runtime, started once.
pub(crate) struct WasmRuntime {
    pub(crate) engine: Engine,
    /// What code must be compiled for to be loaded here.
    pub(crate) target: CompileTarget,
    pub(crate) linker: Linker<Guest>,
    /// The functions of the host, for guests in workers.
    pub(crate) functions: LinkedFunctions<Guest>,
    pub(crate) ticker: Ticker,
    pub(crate) schedule: Schedule,
    /// The places of plugins that list what they offer.
    pub(crate) listing: Semaphore,
}

impl WasmRuntime {
    pub(crate) fn start(EngineConfig { limits, table_elements, .. }: &EngineConfig) -> Result<Self, EngineError> {
        let failed = |error: wasmtime::Error| EngineError::Runtime(reason(&error));
        let mut target = CompileTarget { stack_bytes: limits.stack_bytes, small_memories: false };
        let mut config = target.settings();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits, *table_elements)));
        let engine = match Engine::new(&config) {
            Ok(engine) => engine,
            // A system with little address space has no room for a pool.
            Err(error) => {
                tracing::warn!("no room for pooled instances, calls will be slower: {}", reason(&error));
                target.small_memories = true;
                Engine::new(&target.settings()).map_err(failed)?
            }
        };
        Self::with(engine, target, LinkedFunctions::here())
    }

    /// The runtime of a worker, for code that was compiled for its host.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_in_worker(
        EngineConfig { limits, table_elements, .. }: &EngineConfig,
        target: CompileTarget,
    ) -> Result<Self, EngineError> {
        let failed = |error: wasmtime::Error| EngineError::Runtime(reason(&error));
        let mut config = target.settings();
        if !target.small_memories {
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits, *table_elements)));
        }
        config.with_custom_code_memory(Some(std::sync::Arc::new(crate::code::MappedCode)));
        Self::with(Engine::new(&config).map_err(failed)?, target, LinkedFunctions::in_host())
    }

    fn with(engine: Engine, target: CompileTarget, mut functions: LinkedFunctions<Guest>) -> Result<Self, EngineError> {
        let failed = |error: wasmtime::Error| EngineError::Runtime(reason(&error));
        let mut linker = Linker::new(&engine);
        adapter::link(&mut linker, &mut functions).map_err(failed)?;
        let ticker = Ticker::start(engine.weak()).map_err(EngineError::Thread)?;
        Ok(Self {
            engine,
            target,
            linker,
            functions,
            ticker,
            schedule: Schedule::default(),
            listing: Semaphore::new(LISTING as usize),
        })
    }
}

fn bytes(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// As much as all calls at once may use, each of them up to the ceilings: a call that was
/// admitted finds a place, whichever components run. Unused places take address space and no
/// memory.
fn pool(limits: &HostLimits, table_elements: u64) -> PoolingAllocationConfig {
    let calls = u32::try_from(limits.calls_in_flight).unwrap_or(u32::MAX).saturating_add(LISTING);
    let of_call = CallLimits::ceilings();
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let of_all = |value: u64| calls.saturating_mul(count(value));
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_stacks(calls)
        .total_core_instances(of_all(of_call.instances))
        .total_memories(of_all(of_call.memories))
        .total_tables(of_all(of_call.tables))
        .max_core_instances_per_component(count(of_call.instances))
        .max_memories_per_component(count(of_call.memories))
        .max_tables_per_component(count(of_call.tables))
        .max_memories_per_module(count(of_call.memories))
        .max_tables_per_module(count(of_call.tables))
        .table_elements(bytes(table_elements))
        .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    // Without the scan, resident memory is cleared byte by byte at each call,
    // which costs more than returning it to the system.
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.linear_memory_keep_resident(KEEP_RESIDENT_BYTES);
    }
    pool
}
