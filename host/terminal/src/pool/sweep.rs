//! Closing what nobody uses, forgetting what ended long ago, and closing all.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_core::{PluginName, QuotaFull, SessionId, TenantId, TerminalOwner};

use super::{
    CloseReason, TerminalId, TerminalInfo, Terminals, ending, entry::PooledTerminal, infos, lock,
    tombstones::forget_ended,
};

/// What is closed without its owner's asking gets so long to end by itself.
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
        let limits = &self.common.settings.limits;
        Duration::from_secs((limits.idle_seconds.min(limits.tombstone_seconds) / 10).clamp(1, 60))
    }

    /// The same as if it were this time.
    pub async fn sweep_as_of(&self, now: Instant) -> TerminalSweepReport {
        let idle = Duration::from_secs(self.common.settings.limits.idle_seconds);
        let is_idle = |terminal: &PooledTerminal| {
            terminal.is_open() && !terminal.is_busy() && now.saturating_duration_since(terminal.last_used()) >= idle
        };
        // Under the lock: who starts another one meanwhile sees its place free.
        let unused: Vec<_> = {
            let table = lock(&self.table);
            let unused = table.terminals.values().filter(|terminal| is_idle(terminal)).cloned();
            let because =
                |terminal: &PooledTerminal| ending::idle(now.saturating_duration_since(terminal.last_used()).as_secs());
            unused.inspect(|terminal| terminal.order_close(CloseReason::Idle, because(terminal), GRACE)).collect()
        };
        for terminal in &unused {
            terminal.over().await;
        }
        TerminalSweepReport { closed: unused.len(), forgotten: forget_ended(&self.table, &self.common, now) }
    }

    /// Every terminal and whose it is, for the operator.
    #[must_use]
    pub fn all(&self) -> Vec<(TerminalOwner, TerminalInfo)> {
        let lost = self.lost_of(|_| true).into_iter().map(|lost| (lost.record.owner.clone(), lost.info()));
        lost.chain(infos(self.all_of(|_| true))).collect()
    }

    /// Closes a terminal, whoever owns it, for the operator. How it is then;
    /// nothing where there is none.
    pub async fn close_for_operator(&self, id: TerminalId, grace: Duration) -> Option<TerminalInfo> {
        let terminal = lock(&self.table).terminals.get(&id).cloned()?;
        terminal.close(CloseReason::Operator, ending::operator(), grace.min(super::LONGEST_GRACE)).await;
        Some(terminal.info())
    }

    /// Closes all terminals of a session whose files take more than they may,
    /// whoever started them, without asking their programs first. `full` is the limit
    /// that is broken. How many were open.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId, full: &QuotaFull) -> usize {
        let of_session =
            |terminal: &PooledTerminal| terminal.owner.tenant == *tenant && terminal.owner.session == *session;
        let open = self.all_of(|terminal| terminal.is_open() && of_session(terminal));
        close(&open, CloseReason::Quota, &ending::quota(&full.rule()), Duration::ZERO).await;
        open.len()
    }

    /// The same for those that a plugin started, in whatever session.
    pub async fn end_plugin(&self, plugin: &PluginName) -> usize {
        let open = self.all_of(|terminal| terminal.is_open() && terminal.owner.plugin == *plugin);
        close(&open, CloseReason::Operator, &ending::operator(), Duration::ZERO).await;
        open.len()
    }

    /// Closes all terminals at once, and starts no more.
    pub async fn close_all(&self) {
        let all: Vec<_> = {
            let mut table = lock(&self.table);
            table.closed = true;
            table.terminals.values().cloned().collect()
        };
        close(&all, CloseReason::ShuttingDown, &ending::shutting_down(), GRACE).await;
    }
}

/// All at once.
async fn close(terminals: &[Arc<PooledTerminal>], why: CloseReason, because: &str, grace: Duration) {
    for terminal in terminals {
        terminal.order_close(why, because.to_owned(), grace);
    }
    for terminal in terminals {
        terminal.over().await;
    }
}
