//! Terminals that are over, and how many of them are kept to be read.
//!
//! Owns the rule that an owner whose terminal ends loses an older one of its own where
//! there are too many: no other owner's is forgotten for it. Never ends a terminal.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_core::{TerminalOwner, quota::Level};

use super::{TerminalPool, lost::LostTerminal, pooled_terminal::PooledTerminal, table::TerminalTable};
use crate::TerminalId;

impl TerminalPool {
    /// Forgets terminals that ended long ago, and the oldest beyond what is kept.
    /// How many that were.
    pub(crate) fn forget_ended(&self, now: Instant) -> usize {
        let limits = &self.settings.limits;
        let lifetime = Duration::from_secs(limits.tombstone_seconds);
        // What they hold is let go of without the lock.
        let (mut forgotten, mut lost) = (Vec::new(), Vec::new());
        let mut table = self.table();
        let is_old = |terminal: &&Arc<PooledTerminal>| {
            terminal.ended_at().is_some_and(|ended| now.saturating_duration_since(ended) >= lifetime)
        };
        let old: Vec<_> = table.terminals().filter(is_old).map(|terminal| terminal.id).collect();
        forgotten.extend(old.into_iter().filter_map(|id| table.forget(id)));
        let is_old = |lost: &&Arc<LostTerminal>| now.saturating_duration_since(lost.since) >= lifetime;
        let old: Vec<_> = table.lost().filter(is_old).map(|lost| lost.record.id).collect();
        lost.extend(old.into_iter().filter_map(|id| table.remove_lost(id)));
        for ended in table.newly_ended() {
            let id = ended.id;
            while table.count_kept(&ended.owner) >= limits.ended_per_owner {
                match table.forget_oldest(|owner| *owner == ended.owner) {
                    Some(ForgottenTerminal::Lost(oldest)) => lost.push(oldest),
                    Some(ForgottenTerminal::Ended(oldest)) => forgotten.push(oldest),
                    None => break,
                }
            }
            loop {
                let full = match self.quotas.ended.take(&ended.owner.tenant, &ended.owner.session, 1) {
                    Ok(place) => break ended.set_tombstone(Some(place)),
                    Err(full) => full,
                };
                let forgotten_for_it = table.forget_oldest(|owner| {
                    owner.tenant == ended.owner.tenant
                        && (full.level != Level::Session || owner.session == ended.owner.session)
                });
                match forgotten_for_it {
                    Some(ForgottenTerminal::Lost(oldest)) => lost.push(oldest),
                    Some(ForgottenTerminal::Ended(oldest)) => forgotten.push(oldest),
                    None => {
                        forgotten.extend(table.forget(id));
                        break;
                    }
                }
            }
        }
        drop(table);
        lost.iter().for_each(|lost| lost.remove_files());
        forgotten.len() + lost.len()
    }
}

/// A terminal that makes room among the ended ones.
enum ForgottenTerminal {
    /// One that was lost with an earlier host.
    Lost(Arc<LostTerminal>),
    /// One that ended here.
    Ended(Arc<PooledTerminal>),
}

impl TerminalTable {
    /// Those that are over and have no place among the kept ones yet, the one
    /// that ended first before the others.
    fn newly_ended(&self) -> Vec<Arc<PooledTerminal>> {
        let new = self.terminals().filter(|terminal| !terminal.has_tombstone());
        let mut new: Vec<_> = new.filter_map(|terminal| Some((terminal.ended_at()?, Arc::clone(terminal)))).collect();
        new.sort_by_key(|(ended, terminal)| (*ended, terminal.id));
        new.into_iter().map(|(_, terminal)| terminal).collect()
    }

    /// How many of an owner are kept.
    fn count_kept(&self, owner: &TerminalOwner) -> u64 {
        let ended = self.terminals().filter(|terminal| terminal.has_tombstone() && terminal.owner == *owner);
        let lost = self.lost().filter(|lost| lost.record.owner == *owner);
        ended.count() as u64 + lost.count() as u64
    }

    /// Forgets the oldest of those that count. What was lost is older than what
    /// ended here.
    fn forget_oldest(&mut self, counts: impl Fn(&TerminalOwner) -> bool) -> Option<ForgottenTerminal> {
        let lost = self.lost().filter(|lost| counts(&lost.record.owner));
        if let Some((_, id)) = lost.map(|lost| (lost.record.saved, lost.record.id)).min() {
            return self.remove_lost(id).map(ForgottenTerminal::Lost);
        }
        let kept = self.terminals().filter(|terminal| terminal.has_tombstone() && counts(&terminal.owner));
        let (_, id) = kept.filter_map(|terminal| Some((terminal.ended_at()?, terminal.id))).min()?;
        self.forget(id).map(ForgottenTerminal::Ended)
    }

    /// Readers that have it read on; its place is free.
    fn forget(&mut self, id: TerminalId) -> Option<Arc<PooledTerminal>> {
        self.remove(id).inspect(|terminal| terminal.set_tombstone(None))
    }
}
