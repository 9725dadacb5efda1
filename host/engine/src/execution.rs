//! One call of a plugin's function: a fresh instance, its limits armed.

use std::{sync::Arc, time::Duration};

use wasmtime::Store;
use wharf_core::{Claims, Code, Error, PluginName, limit::TimeLeft};

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
    let CalledPlugin { name, claims, linked } = plugin;
    let _ticking = runtime.ticker.hold();
    let call = Arc::new(ActiveCall::begin(call, name, claims, &shared.backends, &shared.open_handles, declared));
    let limits = call.limits();
    let guest = Guest::new(Arc::clone(&call), &shared.turns, function.name(), linked.functions().is_some());
    let mut store = Store::new(&runtime.engine, guest);
    store.limiter(|guest| &mut guest.limiter);
    // The budget knows the exact limit of one call; this one keeps the runtime
    // from copying more than that before the budget is asked.
    let largest = linked.most_copied_bytes(limits).saturating_add(64 << 10);
    store.set_hostcall_fuel(usize::try_from(largest).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    let schedule = runtime.schedule.clone();
    store.epoch_deadline_callback(move |store| Ok(epoch::ended(&schedule, &store.data().call)));

    let calling = async { function.call(linked.instantiate(&mut store).await?).await };
    match call.clock.drive(calling).await {
        Ok(Ok(returned)) => match call.budget.exceeded() {
            Some(exceeded) => Err(exceeded.into()),
            None => {
                let returned = match call.budget.full() {
                    Some(full) => F::with_reason(returned, full),
                    None => returned,
                };
                Ok((returned, call.clock.left()))
            }
        },
        Ok(Err(failure)) => Err(error::of_call(&failure, &call, shared.config.limits.stack_bytes)),
        Err(why) => Err(call.clock.describe(why).unwrap_or_else(|| Error::new(Code::Internal, "the call was stopped"))),
    }
}
