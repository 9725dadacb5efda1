//! The terminals of a host by id, in memory.
//!
//! Owns how a terminal is found, how many are being started for each owner, and
//! whether more may come. It takes no lock, waits for nothing and ends nothing.

use std::{collections::HashMap, sync::Arc};

use wharf_core::TerminalOwner;

use super::{lost::LostTerminal, pooled_terminal::PooledTerminal};
use crate::{TerminalError, TerminalId};

/// Every terminal that somebody can still find.
#[derive(Debug, Default)]
pub(crate) struct TerminalTable {
    terminals: HashMap<TerminalId, Arc<PooledTerminal>>,
    /// Those that were lost with an earlier host.
    lost: HashMap<TerminalId, Arc<LostTerminal>>,
    /// How many of each owner are being started.
    starting: HashMap<TerminalOwner, usize>,
    closed: bool,
}

impl TerminalTable {
    /// Takes no new terminals from now on.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether more may come.
    ///
    /// # Errors
    /// [`TerminalError::ShuttingDown`] where no more terminals may come.
    pub(super) fn check_open(&self) -> Result<(), TerminalError> {
        if self.closed { Err(TerminalError::ShuttingDown) } else { Ok(()) }
    }

    /// Those that run or have ended here.
    pub(crate) fn terminals(&self) -> impl Iterator<Item = &Arc<PooledTerminal>> {
        self.terminals.values()
    }

    /// Those that were lost with an earlier host.
    pub(crate) fn lost(&self) -> impl Iterator<Item = &Arc<LostTerminal>> {
        self.lost.values()
    }

    /// The terminal, of any owner.
    pub(crate) fn get(&self, id: TerminalId) -> Option<Arc<PooledTerminal>> {
        self.terminals.get(&id).cloned()
    }

    /// The terminal that was lost, of any owner.
    pub(crate) fn get_lost(&self, id: TerminalId) -> Option<Arc<LostTerminal>> {
        self.lost.get(&id).cloned()
    }

    /// The terminal that was lost, where it was this owner's.
    pub(crate) fn find_lost(&self, owner: &TerminalOwner, id: TerminalId) -> Option<Arc<LostTerminal>> {
        self.get_lost(id).filter(|lost| lost.record.owner == *owner)
    }

    /// The terminal, where it is this owner's.
    pub(crate) fn find(&self, owner: &TerminalOwner, id: TerminalId) -> Option<Arc<PooledTerminal>> {
        self.get(id).filter(|terminal| terminal.owner == *owner)
    }

    pub(super) fn insert(&mut self, terminal: Arc<PooledTerminal>) {
        self.terminals.insert(terminal.id, terminal);
    }

    pub(super) fn remove(&mut self, id: TerminalId) -> Option<Arc<PooledTerminal>> {
        self.terminals.remove(&id)
    }

    pub(super) fn insert_lost(&mut self, lost: Arc<LostTerminal>) {
        self.lost.insert(lost.record.id, lost);
    }

    pub(super) fn remove_lost(&mut self, id: TerminalId) -> Option<Arc<LostTerminal>> {
        self.lost.remove(&id)
    }

    /// How many terminals of an owner are being started.
    pub(super) fn starting_of(&self, owner: &TerminalOwner) -> usize {
        self.starting.get(owner).copied().unwrap_or_default()
    }

    /// A terminal of an owner is being started.
    pub(super) fn begin_start(&mut self, owner: &TerminalOwner) {
        *self.starting.entry(owner.clone()).or_default() += 1;
    }

    /// It is started no longer, whatever became of it.
    pub(super) fn end_start(&mut self, owner: &TerminalOwner) {
        if let Some(count) = self.starting.get_mut(owner) {
            *count -= 1;
            if *count == 0 {
                self.starting.remove(owner);
            }
        }
    }
}
