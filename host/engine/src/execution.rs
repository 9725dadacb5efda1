//! One call of a plugin's function: a fresh instance, its limits armed, here or in a worker.

use std::{sync::Arc, time::Duration};

use wasmtime::Store;
use wharf_core::{Claims, Code, Error, PluginName, limit::TimeLeft};

#[cfg(target_os = "linux")]
use crate::isolation::WorkerFailure;
use crate::{
    call::{ActiveCall, Call},
    epoch, error,
    function::{GuestFunction, LinkedPlugin},
    guest::Guest,
    runtime::WasmRuntime,
    shared::SharedEngine,
};

/// The plugin whose function is called.
pub(crate) struct CalledPlugin<'p> {
    pub(crate) name: &'p PluginName,
    pub(crate) claims: &'p Arc<Claims>,
    pub(crate) linked: &'p LinkedPlugin,
    /// It is asked for what it offers, on nobody's behalf.
    pub(crate) is_loading: bool,
}

/// Calls one function of a plugin in an instance of its own. `declared` is how long the
/// function says that it takes at most.
pub(crate) async fn run<F: GuestFunction>(
    shared: &SharedEngine,
    runtime: &WasmRuntime,
    plugin: CalledPlugin<'_>,
    call: Call,
    declared: Option<Duration>,
    function: F,
) -> Result<(F::Returned, TimeLeft), Error> {
    let (name, claims) = (plugin.name, plugin.claims);
    let call = Arc::new(ActiveCall::begin(call, name, claims, &shared.backends, &shared.open_handles, declared));
    let returned = match &shared.workers {
        #[cfg(target_os = "linux")]
        Some(workers) => {
            let store = Store::new(&runtime.engine, guest(shared, &call, plugin.linked, function.name()));
            let setup = shared.worker_setup(runtime.target);
            let called = (plugin.linked, plugin.is_loading);
            let running =
                crate::isolation::run::<F>(workers, &setup, &runtime.functions, called, store, function.asked());
            // Apart, so that a call in the host has no room for it.
            let running: std::pin::Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(running);
            match call.clock.drive(running).await {
                Ok(returned) => returned.map_err(|failure| match failure {
                    WorkerFailure::Trap(failure) => error::of_call(&failure, &call, shared.config.limits.stack_bytes),
                    WorkerFailure::Error(error) => error,
                }),
                Err(why) => Err(stopped(&call, why)),
            }
        }
        #[cfg(not(target_os = "linux"))]
        Some(workers) => match *workers {},
        None => in_instance(shared, runtime, &call, plugin.linked, function).await.returned,
    }?;
    match call.budget.exceeded() {
        Some(exceeded) => Err(exceeded.into()),
        None => {
            let returned = match call.budget.full() {
                Some(full) => F::with_reason(returned, full),
                None => returned,
            };
            Ok((returned, call.clock.left()))
        }
    }
}

/// How a call ended in its instance.
pub(crate) struct EndedCall<R> {
    pub(crate) returned: Result<R, Error>,
    /// What it computed.
    pub(crate) computed: Duration,
    /// What its memories held in the end.
    pub(crate) memory_bytes: u64,
}

impl<R> EndedCall<R> {
    /// Before it had an instance.
    pub(crate) fn failed(error: Error) -> Self {
        Self { returned: Err(error), computed: Duration::ZERO, memory_bytes: 0 }
    }
}

/// Calls the function in an instance of this process.
pub(crate) async fn in_instance<F: GuestFunction>(
    shared: &SharedEngine,
    runtime: &WasmRuntime,
    call: &Arc<ActiveCall>,
    linked: &LinkedPlugin,
    function: F,
) -> EndedCall<F::Returned> {
    let _ticking = runtime.ticker.hold();
    let mut store = Store::new(&runtime.engine, guest(shared, call, linked, function.name()));
    store.limiter(|guest| &mut guest.limiter);
    // The budget knows the exact limit of one call; this one keeps the runtime
    // from copying more than that before the budget is asked.
    let largest = linked.most_copied_bytes(call.limits()).saturating_add(64 << 10);
    store.set_hostcall_fuel(usize::try_from(largest).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    let schedule = runtime.schedule.clone();
    store.epoch_deadline_callback(move |store| Ok(epoch::ended(&schedule, &store.data().call)));

    let calling = async { function.call(linked.instantiate(&mut store).await?).await };
    let returned = match call.clock.drive(calling).await {
        Ok(Ok(returned)) => Ok(returned),
        Ok(Err(failure)) => Err(error::of_call(&failure, call, shared.config.limits.stack_bytes)),
        Err(why) => Err(stopped(call, why)),
    };
    EndedCall { returned, computed: call.clock.used(), memory_bytes: store.data().limiter.memory_bytes() }
}

fn guest(shared: &SharedEngine, call: &Arc<ActiveCall>, linked: &LinkedPlugin, function: &str) -> Guest {
    Guest::new(Arc::clone(call), &shared.turns, function, linked.functions().is_some())
}

fn stopped(call: &ActiveCall, why: crate::clock::StopReason) -> Error {
    call.clock.describe(why).unwrap_or_else(|| Error::new(Code::Internal, "the call was stopped"))
}
