//! Compiling a component, in a process of its own.
//!
//! A hostile component may lead the compiler to use up memory and time, or worse. So it runs in a child of the host that has given up
//! files, network and signals, and is killed when it takes too much. It uses an
//! engine without a pool, whose code loads into the pooled one.

#[cfg(target_os = "linux")]
mod child;
mod functions;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use wasmtime::{Config, Engine};

use crate::error::reason;
#[cfg(not(target_os = "linux"))]
use {crate::error::LoadError, wharf_core::HostLimits, wharf_spawn::Spawner};

/// What decides whether code that was compiled elsewhere loads here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct CompileTarget {
    pub(crate) stack_bytes: u64,
    /// There is little address space, so memories are small and move.
    pub(crate) small_memories: bool,
}

/// Address space of one memory where there is little: room for a small guest;
/// a larger one moves when it grows.
const SMALL_RESERVATION_BYTES: u64 = 4 << 20;
const SMALL_GUARD_BYTES: u64 = 64 << 10;

impl CompileTarget {
    /// Settings of wasmtime, the allocation of instances excepted.
    pub(crate) fn settings(self) -> Config {
        let stack = usize::try_from(self.stack_bytes).unwrap_or(usize::MAX);
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .concurrency_support(false)
            .memory_init_cow(true)
            .max_wasm_stack(stack)
            // Host functions run on the same stack above the guest's part.
            .async_stack_size(stack.saturating_add(1 << 20))
            .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(16));
        if self.small_memories {
            config.memory_reservation(SMALL_RESERVATION_BYTES).memory_guard_size(SMALL_GUARD_BYTES);
        }
        config
    }

    /// Compiles, here and now; with functions that were kept, where there are to be any.
    fn compile(self, component: &[u8], kept: Option<Bytes>) -> Result<Compiled, String> {
        let kept = kept.map(KeptFunctions::read);
        let mut config = self.settings();
        if let Some(kept) = &kept {
            let store = Arc::clone(kept) as Arc<dyn wasmtime::CacheStore>;
            config.enable_incremental_compilation(store).map_err(|error| reason(&error))?;
        }
        let engine = Engine::new(&config).map_err(|error| reason(&error))?;
        let code = engine.precompile_component(component).map_err(|error| reason(&error))?;
        Ok(Compiled { code: code.into(), functions: kept.and_then(|kept| kept.to_keep()) })
    }
}

/// What a compiler made.
pub(crate) struct Compiled {
    pub(crate) code: Bytes,
    /// The functions to keep from now on, where some are new.
    pub(crate) functions: Option<Bytes>,
}

#[cfg(target_os = "linux")]
pub(crate) use child::compile;
use functions::KeptFunctions;
pub(crate) use functions::MAX_BYTES as MAX_FUNCTIONS_BYTES;

/// Compiles here: children are only started on Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn compile(
    _spawner: &Spawner,
    target: CompileTarget,
    component: &[u8],
    kept: Option<Bytes>,
    _limits: &HostLimits,
) -> Result<Compiled, LoadError> {
    target.compile(component, kept).map_err(LoadError::Malformed)
}
