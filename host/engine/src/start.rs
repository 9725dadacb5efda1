//! How instances of a component begin: how long it takes at worst, and how much memory each
//! has before its function runs.
//!
//! Measured, since a component decides itself what it does at its start. Each start has the
//! limits of a plugin that is asked for its lists, so one that loops is ended and told.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use wharf_core::PluginName;

use crate::{
    error::LoadError,
    execution::{self, CalledPlugin},
    function::{GuestFunction, LinkedPlugin, PluginInstance},
    isolation::AskedFunction,
    source::{ComponentSource, block_on},
};

/// Starts that are measured.
const STARTS: u32 = 10;
/// No further one begins after this time.
const TIME: Duration = Duration::from_secs(2);

/// How instances of a component begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartReport {
    /// How many instances were made.
    pub starts: u32,
    /// The time that the slowest of them took; zero where none was made.
    pub slowest: Duration,
    /// Linear memory that an instance has when it begins, of all its memories: the most of
    /// those that were made.
    pub memory_bytes: u64,
    /// Why a further one was not made.
    pub failure: Option<String>,
}

/// No function: an instance is there, and that is all.
pub(crate) struct Start {
    asked: Instant,
}

impl Start {
    pub(crate) fn now() -> Self {
        Self { asked: Instant::now() }
    }
}

impl GuestFunction for Start {
    type Returned = (Duration, u64);

    fn asked(&self) -> AskedFunction {
        AskedFunction::Start
    }

    async fn call(self, instance: PluginInstance<'_>) -> wasmtime::Result<Self::Returned> {
        Ok((self.asked.elapsed(), instance.memory_bytes()))
    }
}

impl ComponentSource {
    /// Measures some starts, one after the other. Blocks.
    pub(crate) fn measure_start(&self, name: &PluginName, linked: &LinkedPlugin) -> Result<StartReport, LoadError> {
        let runtime = self.engine.runtime()?;
        let claims = Arc::default();
        let mut report = StartReport { starts: 0, slowest: Duration::ZERO, memory_bytes: 0, failure: None };
        block_on(async {
            // The semaphore is never closed.
            let _place = runtime.listing.acquire().await.ok();
            let begun = Instant::now();
            while report.starts < STARTS && begun.elapsed() < TIME {
                let plugin = CalledPlugin { name, claims: &claims, linked, is_loading: true };
                let start = Start::now();
                match execution::run(&self.engine, runtime, plugin, self.sandboxed(), None, start).await {
                    Ok(((took, memory_bytes), _)) => {
                        report.starts += 1;
                        report.slowest = report.slowest.max(took);
                        report.memory_bytes = report.memory_bytes.max(memory_bytes);
                    }
                    Err(error) => {
                        report.failure = Some(error.message);
                        break;
                    }
                }
            }
        })?;
        Ok(report)
    }
}
