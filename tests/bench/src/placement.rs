//! On which processors a client and a server run that answers one call after the other.
//!
//! Each of the two wakes the other once a call. On one processor that is a change of threads; on
//! two, a sleeping processor has to be woken, which takes longer than the call itself. The system
//! chooses anew from run to run, so both ways are measured apart.

use std::fs;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// Where both run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    OneProcessor,
    TwoProcessors,
}

/// A client, which is this thread, and a server that stay where they were placed, as long as
/// this lives.
pub(crate) struct Placed {
    server: u32,
    before: CpuSet,
}

impl Placement {
    /// Those that this machine has.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let processors = sched_getaffinity(None)?.count();
        Ok(if processors > 1 { vec![Self::OneProcessor, Self::TwoProcessors] } else { vec![Self::OneProcessor] })
    }

    /// Places this thread and all threads of a server.
    pub(crate) fn place(self, server: u32) -> Result<Placed> {
        let before = sched_getaffinity(None)?;
        let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| before.is_set(*processor));
        let client = processors.next().context("no processor")?;
        let other = match self {
            Self::OneProcessor => client,
            Self::TwoProcessors => processors.next().context("one processor alone")?,
        };
        let placed = Placed { server, before };
        sched_setaffinity(None, &only(client))?;
        move_threads(server, &only(other))?;
        Ok(placed)
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // What ends has no place.
        let _ = sched_setaffinity(None, &self.before);
        let _ = move_threads(self.server, &self.before);
    }
}

fn only(processor: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(processor);
    set
}

fn move_threads(process: u32, to: &CpuSet) -> Result<()> {
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let thread = thread?.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
        sched_setaffinity(Some(thread.context("a thread without a number")?), to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_placed_stays_and_may_go_anywhere_afterwards() {
        let before = sched_getaffinity(None).expect("told");
        for placement in Placement::all().expect("told") {
            let placed = placement.place(std::process::id()).expect("placed");
            assert_eq!(sched_getaffinity(None).expect("told").count(), 1, "{placement:?}");
            drop(placed);
            assert_eq!(sched_getaffinity(None).expect("told"), before, "{placement:?}");
        }
    }
}
