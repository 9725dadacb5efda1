//! One call: a fresh instance, its limits armed.

use std::{sync::Arc, time::Duration};

use wasmtime::Store;
use wharf_core::{Claims, Code, Error, PluginName, limit::TimeLeft};

use crate::{
    answer,
    call::{ActiveCall, Call},
    epoch, error,
    function::{Code as Linked, Function, Returned},
    guest::Guest,
    runtime::Runtime,
    shared::Shared,
};

/// The plugin whose function is called.
pub(crate) struct Callee<'p> {
    pub(crate) name: &'p PluginName,
    pub(crate) claims: &'p Arc<Claims>,
    pub(crate) code: &'p Linked,
}

/// Calls one function of a plugin in an instance of its own. `declared` is how long the
/// function says that it takes at most.
pub(crate) async fn run(
    shared: &Shared,
    runtime: &Runtime,
    callee: Callee<'_>,
    call: Call,
    declared: Option<Duration>,
    function: Function<'_>,
) -> Result<(Returned, TimeLeft), Error> {
    let _ticking = runtime.ticker.hold();
    let policy = Arc::clone(&call.policy);
    let limits = &*policy.limits;
    let call = Arc::new(ActiveCall::begin(call, callee.name, callee.claims, shared, declared));
    let guest = Guest::new(Arc::clone(&call), &shared.turns, function.name());
    let mut store = Store::new(&runtime.engine, guest);
    store.limiter(|guest| &mut guest.limiter);
    // The budget knows the exact limit of one call; this one keeps the runtime
    // from copying more than that before the budget is asked.
    let largest = limits.host_call_bytes.max(limits.output_bytes).saturating_add(64 << 10);
    store.set_hostcall_fuel(usize::try_from(largest).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    let schedule = runtime.schedule.clone();
    store.epoch_deadline_callback(move |store| Ok(epoch::ended(&schedule, &store.data().call)));

    let finished = call.clock.drive(function.call(callee.code, &mut store)).await;
    match finished {
        Ok(Ok(returned)) => match call.budget.exceeded() {
            Some(exceeded) => Err(exceeded.into()),
            None => Ok((answer::with_reason(returned, call.budget.full()), call.clock.left())),
        },
        Ok(Err(failure)) => Err(error::of_call(&failure, &call, shared.config.limits.stack_bytes)),
        Err(why) => Err(call.clock.describe(why).unwrap_or_else(|| Error::new(Code::Internal, "the call was stopped"))),
    }
}
