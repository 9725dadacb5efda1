//! The places of terminals: how many there may be of an owner, a session, a
//! tenant and all together, and which one makes room for another.
//!
//! Room is made within the tenant that asks and nowhere else. A terminal that
//! was used a moment ago is in use, whether or not a turn runs.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use wharf_core::{
    Quota, Share, TerminalLimits, TerminalOwner,
    quota::{Bounds, Level},
};

use super::{CloseReason, TerminalId, TerminalTable, Terminals, ending, entry::PooledTerminal, lock};
use crate::TerminalError;

/// What makes room gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(1);

const SECTION: &str = "[terminal.limits]";

/// The places of open terminals.
pub(super) fn of_open(limits: &TerminalLimits) -> Arc<Quota> {
    Quota::new(Bounds {
        resource: "terminals",
        section: SECTION,
        session: Some(("open_per_session", limits.open_per_session)),
        tenant: ("open_per_tenant", limits.open_per_tenant),
        host: ("open", limits.open),
    })
}

/// The places of ended terminals that are kept.
pub(super) fn of_ended(limits: &TerminalLimits) -> Arc<Quota> {
    Quota::new(Bounds {
        resource: "ended terminals",
        section: SECTION,
        session: Some(("ended_per_session", limits.ended_per_session)),
        tenant: ("ended_per_tenant", limits.ended_per_tenant),
        host: ("ended", limits.ended),
    })
}

/// A place among the terminals. What is to make room for it has given its own
/// up and runs on: it is closed once the new terminal runs, and gets its place
/// back where that never does.
pub(super) struct Reservation {
    table: Arc<Mutex<TerminalTable>>,
    places: Arc<Quota>,
    owner: TerminalOwner,
    place: Option<Share>,
    leaving: Vec<DisplacedTerminal>,
}

/// A terminal that is to make room.
struct DisplacedTerminal {
    terminal: Arc<PooledTerminal>,
    /// The limit that it is in the way of, where another owner needs the room.
    limit: Option<&'static str>,
}

/// What made room.
pub(super) struct Displacement {
    /// Each has been told to end.
    pub(super) leaving: Vec<Arc<PooledTerminal>>,
    /// Those of them that the same owner had, and had not closed itself.
    pub(super) replaced: Vec<TerminalId>,
}

impl Reservation {
    /// The terminal runs: it takes the place, and what makes room is told to end.
    /// Asked with the table locked.
    pub(super) fn take(&mut self, terminal: &PooledTerminal, limits: &TerminalLimits) -> Displacement {
        terminal.set_place(self.place.take());
        let leaving = std::mem::take(&mut self.leaving);
        let own = leaving.iter().filter(|leaving| leaving.limit.is_none() && leaving.terminal.is_open());
        let replaced = own.map(|leaving| leaving.terminal.id).collect();
        for DisplacedTerminal { terminal: old, limit } in
            leaving.iter().filter(|leaving| leaving.terminal.ended_at().is_none())
        {
            let (why, because) = match limit {
                None => (CloseReason::Replaced, ending::replaced(terminal.id, limits)),
                Some(limit) => (CloseReason::Evicted, ending::evicted(limit, old.last_used().elapsed().as_secs())),
            };
            old.order_close(why, because, GRACE);
        }
        Displacement { leaving: leaving.into_iter().map(|leaving| leaving.terminal).collect(), replaced }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        if let Some(count) = table.starting.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                table.starting.remove(&self.owner);
            }
        }
        self.place = None;
        give_back(&self.places, &self.leaving);
    }
}

/// Nobody takes a place without the lock of the table, so what was given up
/// can be taken back.
fn give_back(places: &Arc<Quota>, leaving: &[DisplacedTerminal]) {
    for DisplacedTerminal { terminal, .. } in leaving {
        terminal.set_place(places.take(&terminal.owner.tenant, &terminal.owner.session, 1).ok());
    }
}

impl TerminalTable {
    /// The open terminals of an owner that exceed what it may have with one
    /// more: those that are used least, the busy ones last.
    fn excess_of(&self, owner: &TerminalOwner, most: usize) -> Vec<Arc<PooledTerminal>> {
        let starting = self.starting.get(owner).copied().unwrap_or_default();
        let mut own: Vec<_> = self.terminals.values().filter(|terminal| terminal.has_place()).collect();
        own.retain(|terminal| terminal.owner == *owner);
        own.sort_by_key(|terminal| (!terminal.is_closing(), terminal.is_busy(), terminal.last_used(), terminal.id));
        own.truncate((own.len() + starting + 1).saturating_sub(most));
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
        let spare = self.terminals.values().filter(|terminal| terminal.has_place() && counts(terminal));
        let spare = spare.filter(|terminal| is_spare(terminal));
        spare.min_by_key(|terminal| (!terminal.is_closing(), terminal.last_used(), terminal.id)).cloned()
    }
}

impl Terminals {
    /// Takes a place for a terminal, if there is one: counted and taken under one
    /// lock, so that no two take the last. Where there is none, nothing has
    /// changed.
    pub(super) fn reserve(&self, owner: &TerminalOwner) -> Result<Reservation, TerminalError> {
        let (limits, places) = (&self.common.settings.limits, &self.common.places);
        let most_of_owner = usize::try_from(limits.open_per_owner).unwrap_or(usize::MAX);
        let unused = Duration::from_secs(limits.evictable_after_seconds);
        let mut table = lock(&self.table);
        if table.closed {
            return Err(TerminalError::ShuttingDown);
        }
        if table.starting.get(owner).copied().unwrap_or_default() >= most_of_owner {
            return Err(TerminalError::Starting { limit: most_of_owner });
        }
        let own = table.excess_of(owner, most_of_owner).into_iter();
        let mut leaving: Vec<_> = own.map(|terminal| DisplacedTerminal { terminal, limit: None }).collect();
        leaving.iter().for_each(|leaving| leaving.terminal.set_place(None));
        let place = loop {
            let full = match places.take(&owner.tenant, &owner.session, 1) {
                Ok(place) => break place,
                Err(full) => full,
            };
            let Some(terminal) = table.spare(owner, full.level, unused) else {
                give_back(places, &leaving);
                return Err(TerminalError::Full { full, unused_seconds: limits.evictable_after_seconds });
            };
            terminal.set_place(None);
            leaving.push(DisplacedTerminal { terminal, limit: Some(full.bound.0) });
        };
        *table.starting.entry(owner.clone()).or_default() += 1;
        drop(table);
        let (table, places, owner) = (Arc::clone(&self.table), Arc::clone(places), owner.clone());
        Ok(Reservation { table, places, owner, place: Some(place), leaving })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_open_and_ended_terminals_are_those_of_the_table() {
        let limits = TerminalLimits { open: 1, ended: 1, ..TerminalLimits::default() };
        let (tenant, session) = ("local".parse().expect("legal"), "s".parse().expect("legal"));
        for quota in [of_open(&limits), of_ended(&limits)] {
            let _held = quota.take(&tenant, &session, 1).expect("a place");
            let full = quota.take(&tenant, &session, 1).expect_err("none is left");
            assert_eq!((full.level, full.bound.1), (Level::Host, 1));
        }
    }
}
