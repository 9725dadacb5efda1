//! Closing what nobody uses, forgetting what ended long ago, and closing all.

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_core::{PluginName, SessionId, TenantId, TerminalOwner};

use super::{TerminalId, TerminalInfo, Terminals, Why, entry::Terminal, infos, lock};

/// What is closed without its owner's asking gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Terminals that nobody used, and that are closed now.
    pub closed: usize,
    /// Terminals that ended long ago, and that are forgotten now.
    pub forgotten: usize,
}

impl Terminals {
    /// Closes the terminals that nobody uses, and forgets those that ended long
    /// ago. A host does this once a minute.
    pub async fn sweep(&self) -> Swept {
        self.sweep_as_of(Instant::now()).await
    }

    /// The same as if it were this time.
    pub async fn sweep_as_of(&self, now: Instant) -> Swept {
        let idle = Duration::from_secs(self.common.settings.limits.idle_seconds);
        let is_idle = |terminal: &Terminal| {
            terminal.is_open() && !terminal.is_busy() && now.saturating_duration_since(terminal.last_used()) >= idle
        };
        // Under the lock: who starts another one meanwhile sees its place free.
        let unused: Vec<_> = {
            let table = lock(&self.table);
            let unused = table.terminals.values().filter(|terminal| is_idle(terminal)).cloned();
            unused.inspect(|terminal| terminal.order_close(Why::Idle, GRACE)).collect()
        };
        for terminal in &unused {
            terminal.close(Why::Idle, GRACE).await;
        }
        Swept { closed: unused.len(), forgotten: self.forget_ended(now) }
    }

    /// Forgets terminals that ended long ago, and the oldest beyond what is
    /// kept.
    pub(super) fn forget_ended(&self, now: Instant) -> usize {
        let limits = &self.common.settings.limits;
        let lifetime = Duration::from_secs(limits.tombstone_seconds);
        let mut table = lock(&self.table);
        let mut ended: Vec<_> = table
            .terminals
            .values()
            .filter_map(|terminal| Some((terminal.ended_at()?, terminal.id, terminal.owner.clone())))
            .collect();
        ended.sort_by_key(|(at, id, _)| (Reverse(*at), *id));
        let (mut kept, mut kept_of) = (0_u64, HashMap::<TerminalOwner, u64>::new());
        let mut forgotten = Vec::new();
        for (at, id, owner) in ended {
            let of_owner = kept_of.entry(owner).or_default();
            if now.saturating_duration_since(at) >= lifetime
                || kept >= limits.ended
                || *of_owner >= limits.ended_per_owner
            {
                forgotten.extend(table.terminals.remove(&id));
            } else {
                kept += 1;
                *of_owner += 1;
            }
        }
        // What they hold is let go of without the lock.
        drop(table);
        forgotten.len()
    }

    /// Every terminal and whose it is, for the operator.
    #[must_use]
    pub fn all(&self) -> Vec<(TerminalOwner, TerminalInfo)> {
        infos(self.all_of(|_| true)).collect()
    }

    /// Closes a terminal, whoever owns it, for the operator. How it is then;
    /// nothing where there is none.
    pub async fn close_for_operator(&self, id: TerminalId, grace: Duration) -> Option<TerminalInfo> {
        let terminal = lock(&self.table).terminals.get(&id).cloned()?;
        terminal.close(Why::Operator, grace.min(super::LONGEST_GRACE)).await;
        Some(terminal.info())
    }

    /// Closes all terminals of a session, whoever started them, without asking
    /// their programs first. How many were open.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId) -> usize {
        let of_session = |terminal: &Terminal| terminal.owner.tenant == *tenant && terminal.owner.session == *session;
        let open = self.all_of(|terminal| terminal.is_open() && of_session(terminal));
        close(&open, Why::Operator, Duration::ZERO).await;
        open.len()
    }

    /// The same for those that a plugin started, in whatever session.
    pub async fn end_plugin(&self, plugin: &PluginName) -> usize {
        let open = self.all_of(|terminal| terminal.is_open() && terminal.owner.plugin == *plugin);
        close(&open, Why::Operator, Duration::ZERO).await;
        open.len()
    }

    /// Closes all terminals at once, and starts no more.
    pub async fn close_all(&self) {
        let all: Vec<_> = {
            let mut table = lock(&self.table);
            table.closed = true;
            table.terminals.values().cloned().collect()
        };
        close(&all, Why::ShuttingDown, GRACE).await;
    }
}

/// All at once.
async fn close(terminals: &[Arc<Terminal>], why: Why, grace: Duration) {
    for terminal in terminals {
        terminal.order_close(why, grace);
    }
    for terminal in terminals {
        terminal.close(why, grace).await;
    }
}
