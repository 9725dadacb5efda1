//! `wasi:clocks/monotonic-clock`, with every wait cut so that it ends before
//! the call does: a guest that sleeps too long still gets to answer. Where the operator gave coarse clocks, a wait
//! ends with a step of them.

use std::time::{Duration, Instant};

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::{
    clocks::{WasiClocksCtxView, WasiClocksView},
    p2::{DynPollable, bindings::clocks::monotonic_clock},
};

use crate::{coarse::CoarseClock, guest::Guest};

/// The clocks of a guest, and when its waits end at the latest.
pub(crate) struct BoundedClocks<'g> {
    clocks: WasiClocksCtxView<'g>,
    until: Instant,
    coarse: Option<CoarseClock>,
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
        let coarse = guest.call.coarse;
        BoundedClocks { clocks: guest.clocks(), until, coarse }
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
        let wait = match &self.coarse {
            Some(coarse) => coarse.wait_until(Duration::from_nanos(when)),
            None => Duration::from_nanos(when.saturating_sub(monotonic_clock::Host::now(&mut self.clocks)?)),
        };
        self.subscribe(wait)
    }

    fn subscribe_duration(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let wait = Duration::from_nanos(when);
        self.subscribe(self.coarse.map_or(wait, |coarse| coarse.wait(wait)))
    }
}

impl BoundedClocks<'_> {
    fn subscribe(&mut self, wait: Duration) -> wasmtime::Result<Resource<DynPollable>> {
        let left = self.until.saturating_duration_since(Instant::now());
        let wait = wait.min(left);
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        monotonic_clock::Host::subscribe_duration(&mut self.clocks, wait)
    }
}
