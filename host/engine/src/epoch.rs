//! What happens to a running guest each time an epoch ends: it is stopped, or
//! others run and it goes on.

use std::sync::Arc;

use wasmtime::UpdateDeadline;

use crate::{call::ActiveCall, clock::StopReason, schedule::Schedule};

/// Stops the call where its time, its budget or its client's patience is over.
pub(crate) fn ended(schedule: &Schedule, call: &Arc<ActiveCall>) -> UpdateDeadline {
    let clock = &call.clock;
    if clock.check().is_some() {
        return UpdateDeadline::Interrupt;
    }
    if call.budget.exceeded().is_some() {
        clock.stop(StopReason::Budget);
        return UpdateDeadline::Interrupt;
    }
    UpdateDeadline::YieldCustom(1, Box::pin(step_back(schedule.clone(), Arc::clone(call))))
}

/// Waits for the call's turn, and lets the runtime do what else there is.
async fn step_back(schedule: Schedule, call: Arc<ActiveCall>) {
    let clock = &call.clock;
    clock.between_epochs(true);
    let slot = schedule.turn(clock.take_slot(), clock.computed()).await;
    clock.set_slot(slot);
    // The runtime looks for input and timers before it comes back here, and
    // not only after dozens of slices.
    tokio::task::yield_now().await;
    clock.between_epochs(false);
}
