//! Closing what nobody uses, and forgetting what ended long ago.
//!
//! Never closes what is busy.

use std::time::Duration;

use tokio::time::Instant;

use super::Terminals;
use crate::{
    CloseReason,
    pool::{PooledTerminal, end_cause},
};

/// A terminal that nobody uses gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalSweepReport {
    /// Terminals that nobody used, and that are closed now.
    pub closed: usize,
    /// Terminals that ended long ago, and that are forgotten now.
    pub forgotten: usize,
}

impl Terminals {
    /// Closes the terminals that nobody uses, and forgets those that ended long
    /// ago. A host does this as often as [`Terminals::sweep_interval`] says.
    pub async fn sweep(&self) -> TerminalSweepReport {
        self.sweep_as_of(Instant::now()).await
    }

    /// How long to wait between two sweeps: a tenth of the shortest time after
    /// which one does something, so that none is exceeded by much; at least a second
    /// and at most a minute.
    #[must_use]
    pub fn sweep_interval(&self) -> Duration {
        let limits = &self.pool.settings.limits;
        Duration::from_secs((limits.idle_seconds.min(limits.tombstone_seconds) / 10).clamp(1, 60))
    }

    /// The same as if it were this time.
    pub async fn sweep_as_of(&self, now: Instant) -> TerminalSweepReport {
        let idle = Duration::from_secs(self.pool.settings.limits.idle_seconds);
        let is_idle = |terminal: &PooledTerminal| {
            terminal.is_open() && !terminal.is_busy() && now.saturating_duration_since(terminal.last_used()) >= idle
        };
        // Under the lock, so that a start meanwhile sees these places free.
        let unused: Vec<_> = {
            let table = self.pool.table();
            let unused = table.terminals().filter(|terminal| is_idle(terminal)).cloned();
            let because = |terminal: &PooledTerminal| {
                end_cause::idle(now.saturating_duration_since(terminal.last_used()).as_secs())
            };
            unused.inspect(|terminal| terminal.order_close(CloseReason::Idle, because(terminal), GRACE)).collect()
        };
        for terminal in &unused {
            terminal.over().await;
        }
        TerminalSweepReport { closed: unused.len(), forgotten: self.pool.forget_ended(now) }
    }
}
