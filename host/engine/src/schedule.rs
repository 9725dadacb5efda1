//! Who computes when many calls want to.
//!
//! A call that has computed for longer than [`LONG`] needs a slot to go on:
//! there are as many as worker threads, handed out in the order of asking. So
//! however many calls spin, at most one of them a worker stands in the
//! runtime's queue, and a short call waits for a slice or two instead of for
//! all of them.

use std::{pin::Pin, sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use wasmtime::UpdateDeadline;

use crate::{clock::Stop, guest::Guest};

/// How long a call computes before it counts as a long one.
const LONG: Duration = Duration::from_millis(20);

/// The slots of long calls.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    slots: Arc<Semaphore>,
}

impl Schedule {
    pub(crate) fn new() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { slots: Arc::new(Semaphore::new(workers)) }
    }

    /// At each epoch of a call: stop it, or let others run and go on.
    pub(crate) fn epoch(&self, guest: &Guest) -> UpdateDeadline {
        let clock = &guest.clock;
        if clock.check().is_some() {
            return UpdateDeadline::Interrupt;
        }
        if guest.budget.exceeded().is_some() {
            clock.stop(Stop::Budget);
            return UpdateDeadline::Interrupt;
        }
        if clock.computed() < LONG {
            return UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now()));
        }
        let (slots, clock) = (Arc::clone(&self.slots), Arc::clone(clock));
        let turn: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            // Yielding first returns through `Clock::drive`, which gives the
            // present slot back.
            tokio::task::yield_now().await;
            // The semaphore is never closed; without a slot the call just goes on.
            clock.set_slot(slots.acquire_owned().await.ok());
        });
        UpdateDeadline::YieldCustom(1, turn)
    }
}
