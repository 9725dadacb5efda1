//! Which terminal gets a place, and which one makes room for it.
//!
//! Owns that room is made within the tenant that asks and nowhere else, and that
//! a terminal which was used a moment ago is in use, whether or not a turn runs.
//! Never knows how a terminal is started.

use std::{sync::Arc, time::Duration};

use wharf_core::{Quota, Share, TerminalLimits, TerminalOwner, quota::Level};

use super::{TerminalPool, end_cause, pooled_terminal::PooledTerminal, table::TerminalTable};
use crate::{CloseReason, TerminalError, TerminalId};

/// A terminal that makes room gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A place for a terminal that is being started. A terminal that is to make room
/// for it has given its own place up and runs on: it is closed once the new one
/// runs, and gets its place back where that never does.
pub(crate) struct Reservation {
    pool: Arc<TerminalPool>,
    owner: TerminalOwner,
    place: Option<Share>,
    displaced: Vec<DisplacedTerminal>,
}

/// A terminal that is to make room.
struct DisplacedTerminal {
    terminal: Arc<PooledTerminal>,
    /// The limit that it is in the way of, where another owner needs the room.
    limit: Option<&'static str>,
}

/// The terminals that made room.
pub(crate) struct Displacement {
    /// Each has been told to end.
    pub(crate) ending: Vec<Arc<PooledTerminal>>,
    /// Those of them that the same owner had, and had not closed itself.
    pub(crate) replaced: Vec<TerminalId>,
}

impl TerminalPool {
    /// Takes a place for a terminal, if there is one: counted and taken under one
    /// lock, so that no two take the last. Where there is none, nothing has
    /// changed.
    ///
    /// # Errors
    /// [`TerminalError::ShuttingDown`]; [`TerminalError::Starting`];
    /// [`TerminalError::Full`].
    pub(crate) fn reserve(self: &Arc<Self>, owner: &TerminalOwner) -> Result<Reservation, TerminalError> {
        let (limits, places) = (&self.settings.limits, &self.quotas.open);
        let most_of_owner = usize::try_from(limits.open_per_owner).unwrap_or(usize::MAX);
        let unused = Duration::from_secs(limits.evictable_after_seconds);
        let mut table = self.table();
        table.check_open()?;
        if table.starting_of(owner) >= most_of_owner {
            return Err(TerminalError::Starting { limit: most_of_owner });
        }
        let own = table.excess_of(owner, most_of_owner).into_iter();
        let mut displaced: Vec<_> = own.map(|terminal| DisplacedTerminal { terminal, limit: None }).collect();
        displaced.iter().for_each(|displaced| displaced.terminal.set_place(None));
        let place = loop {
            let full = match places.take(&owner.tenant, &owner.session, 1) {
                Ok(place) => break place,
                Err(full) => full,
            };
            let Some(terminal) = table.spare(owner, full.level, unused) else {
                give_back(places, &displaced);
                return Err(TerminalError::Full { full, unused_seconds: limits.evictable_after_seconds });
            };
            terminal.set_place(None);
            displaced.push(DisplacedTerminal { terminal, limit: Some(full.bound.0) });
        };
        table.begin_start(owner);
        drop(table);
        Ok(Reservation { pool: Arc::clone(self), owner: owner.clone(), place: Some(place), displaced })
    }
}

impl Reservation {
    /// Adds a terminal that runs, in its place, and orders the end of those that
    /// make room for it.
    ///
    /// # Errors
    /// [`TerminalError::ShuttingDown`].
    pub(crate) fn admit(mut self, terminal: &Arc<PooledTerminal>) -> Result<Displacement, TerminalError> {
        let mut table = self.pool.table();
        table.check_open()?;
        table.insert(Arc::clone(terminal));
        terminal.set_place(self.place.take());
        let displaced = std::mem::take(&mut self.displaced);
        let own = displaced.iter().filter(|displaced| displaced.limit.is_none() && displaced.terminal.is_open());
        let replaced = own.map(|displaced| displaced.terminal.id).collect();
        for displaced in displaced.iter().filter(|displaced| displaced.terminal.ended_at().is_none()) {
            displaced.order_close(terminal, &self.pool.settings.limits);
        }
        drop(table);
        Ok(Displacement { ending: displaced.into_iter().map(|displaced| displaced.terminal).collect(), replaced })
    }
}

impl DisplacedTerminal {
    fn order_close(&self, by: &PooledTerminal, limits: &TerminalLimits) {
        let (why, because) = match self.limit {
            None => (CloseReason::Replaced, end_cause::replaced(by.id, limits)),
            Some(limit) => {
                let unused_seconds = self.terminal.last_used().elapsed().as_secs();
                let by = (by.owner.session == self.terminal.owner.session).then_some(by.id);
                (CloseReason::Evicted, end_cause::evicted(limit, unused_seconds, by))
            }
        };
        self.terminal.order_close(why, because, GRACE);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.pool.table();
        table.end_start(&self.owner);
        self.place = None;
        give_back(&self.pool.quotas.open, &self.displaced);
    }
}

/// Nobody takes a place without the lock of the table, so a place that was given
/// up can be taken back.
fn give_back(places: &Arc<Quota>, displaced: &[DisplacedTerminal]) {
    for DisplacedTerminal { terminal, .. } in displaced {
        terminal.set_place(places.take(&terminal.owner.tenant, &terminal.owner.session, 1).ok());
    }
}

impl TerminalTable {
    /// The open terminals of an owner that exceed what it may have with one
    /// more: those that are used least, the busy ones last.
    fn excess_of(&self, owner: &TerminalOwner, most: usize) -> Vec<Arc<PooledTerminal>> {
        let mut own: Vec<_> = self.terminals().filter(|terminal| terminal.has_place()).collect();
        own.retain(|terminal| terminal.owner == *owner);
        own.sort_by_key(|terminal| (!terminal.is_closing(), terminal.is_busy(), terminal.last_used(), terminal.id));
        own.truncate((own.len() + self.starting_of(owner) + 1).saturating_sub(most));
        own.into_iter().cloned().collect()
    }

    /// Which terminal of the same tenant may make room where this limit is
    /// reached: one that is being closed, else the one that is unused for
    /// longest.
    fn spare(&self, owner: &TerminalOwner, level: Level, unused: Duration) -> Option<Arc<PooledTerminal>> {
        let counts = |terminal: &PooledTerminal| match level {
            Level::Session => terminal.owner.tenant == owner.tenant && terminal.owner.session == owner.session,
            Level::Tenant | Level::Host => terminal.owner.tenant == owner.tenant,
        };
        let is_spare = |terminal: &PooledTerminal| {
            terminal.is_closing() || (!terminal.is_busy() && terminal.last_used().elapsed() >= unused)
        };
        let spare = self.terminals().filter(|terminal| terminal.has_place() && counts(terminal));
        let spare = spare.filter(|terminal| is_spare(terminal));
        spare.min_by_key(|terminal| (!terminal.is_closing(), terminal.last_used(), terminal.id)).cloned()
    }
}
