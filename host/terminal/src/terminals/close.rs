//! Closing terminals: by their owner, by the operator, at a limit, and with the
//! host.
//!
//! Owns who may close which, and how long programs get to end by themselves. Never
//! knows how a program is ended: its keeper does.

use std::{sync::Arc, time::Duration};

use wharf_core::{PluginName, QuotaFull, SessionId, TenantId, TerminalOwner};

use super::Terminals;
use crate::{
    CloseReason, TerminalError, TerminalId, TerminalInfo,
    pool::{PooledTerminal, end_cause},
};

/// The longest that a close leaves to a program to end by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(60);
/// What ends with its host gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(2);

impl Terminals {
    /// Closes a terminal: its program is asked to end, and killed once `grace`
    /// (a minute at most) is over, with whatever descends from it. What it
    /// printed stays to be read for a while. Once begun, it goes on though the
    /// future is dropped; closing again changes nothing.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn close(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        grace: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        let terminal = self.find(owner, id)?;
        terminal.close(CloseReason::Owner, end_cause::by_owner(), grace.min(LONGEST_GRACE)).await;
        Ok(terminal.info())
    }

    /// Closes a terminal of any owner, for the operator. Returns its state then;
    /// `None` where there is no such terminal.
    pub async fn close_for_operator(&self, id: TerminalId, grace: Duration) -> Option<TerminalInfo> {
        let terminal = self.pool.table().get(id)?;
        terminal.close(CloseReason::Operator, end_cause::by_operator(), grace.min(LONGEST_GRACE)).await;
        Some(terminal.info())
    }

    /// Closes all terminals of a session whose files take more than they may,
    /// whichever plugin started them, without asking their programs first. `full` is
    /// the limit that is broken. Returns how many were open.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId, full: &QuotaFull) -> usize {
        let of_session =
            |terminal: &PooledTerminal| terminal.owner.tenant == *tenant && terminal.owner.session == *session;
        let open = self.pool.select(|terminal| terminal.is_open() && of_session(terminal));
        close_together(&open, CloseReason::Quota, &end_cause::quota(&full.rule()), Duration::ZERO).await;
        open.len()
    }

    /// The same for those that a plugin started, in whatever session.
    pub async fn end_plugin(&self, plugin: &PluginName) -> usize {
        let open = self.pool.select(|terminal| terminal.is_open() && terminal.owner.plugin == *plugin);
        close_together(&open, CloseReason::Operator, &end_cause::by_operator(), Duration::ZERO).await;
        open.len()
    }

    /// Closes the terminals of all sessions without asking their programs first; more may be
    /// started.
    pub async fn end_all(&self) {
        let open = self.pool.select(PooledTerminal::is_open);
        close_together(&open, CloseReason::ShuttingDown, &end_cause::shutting_down(), Duration::ZERO).await;
    }

    /// Closes all terminals at once, and starts no more.
    pub async fn close_all(&self) {
        let all: Vec<_> = {
            let mut table = self.pool.table();
            table.close();
            table.terminals().cloned().collect()
        };
        close_together(&all, CloseReason::ShuttingDown, &end_cause::shutting_down(), GRACE).await;
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        let mut table = self.pool.table();
        table.close();
        for terminal in table.terminals() {
            terminal.order_close(CloseReason::ShuttingDown, end_cause::shutting_down(), Duration::ZERO);
        }
    }
}

/// Closes all at once.
async fn close_together(terminals: &[Arc<PooledTerminal>], why: CloseReason, because: &str, grace: Duration) {
    for terminal in terminals {
        terminal.order_close(why, because.to_owned(), grace);
    }
    for terminal in terminals {
        terminal.over().await;
    }
}
