//! `wasi:clocks/monotonic-clock`, with every wait cut so that it ends before
//! the call does: a guest that sleeps too long still gets to answer.

use std::time::{Duration, Instant};

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::{
    clocks::{WasiClocksCtxView, WasiClocksView},
    p2::{DynPollable, bindings::clocks::monotonic_clock},
};

use crate::guest::Guest;

/// The clocks of a guest, and when its waits end at the latest.
pub(crate) struct BoundedClocks<'g> {
    clocks: WasiClocksCtxView<'g>,
    until: Instant,
}

struct HasBoundedClocks;

impl HasData for HasBoundedClocks {
    type Data<'g> = BoundedClocks<'g>;
}

/// Replaces the clock that WASI links.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<_, HasBoundedClocks>(linker, |guest: &mut Guest| {
        let until = guest.call.clock.wait_until();
        BoundedClocks { clocks: guest.clocks(), until }
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

impl monotonic_clock::Host for BoundedClocks<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::now(&mut self.clocks)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::resolution(&mut self.clocks)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let now = monotonic_clock::Host::now(&mut self.clocks)?;
        self.subscribe_duration(when.saturating_sub(now))
    }

    fn subscribe_duration(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let left = self.until.saturating_duration_since(Instant::now());
        let wait = Duration::from_nanos(when).min(left);
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        monotonic_clock::Host::subscribe_duration(&mut self.clocks, wait)
    }
}
