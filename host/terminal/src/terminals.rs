//! What can be asked of the terminals of a host.
//!
//! Owns who may see which terminal: an owner its own, the operator all, a session
//! those that it may look at. Never knows how many there may be, nor how one is
//! kept: that is `pool`.
//!
//! | file | what it does |
//! |---|---|
//! | `launch`, `turns`, `reading`, `close` | what an owner asks of its terminals |
//! | `rules` | what holds for the terminals of a plugin |
//! | `watch` | what a session looks at, whichever plugin opened it |
//! | `attach`, `close` | what the operator does with any terminal |
//! | `sweep` | what the host does now and then |

mod attach;
mod close;
mod launch;
mod reading;
mod rules;
mod sweep;
mod turns;
mod watch;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use wharf_core::TerminalOwner;
use wharf_encryption::AtRest;
use wharf_spawn::Spawner;

use crate::{
    InvalidProfile, TerminalError, TerminalId, TerminalInfo, TerminalMetrics, TerminalPoolSettings, TerminalSize,
    pool::{LostTerminal, PooledTerminal, TerminalPool},
    profile::ProgramProfiles,
};

pub use attach::AttachedTerminal;
pub use launch::LaunchRequest;
pub use sweep::TerminalSweepReport;
pub use watch::{WatchEvent, WatchedTerminal};

/// The terminals of a host.
///
/// They end with the host, however it ends, and when this is dropped; call
/// [`Terminals::close_all`] where there is time to wait for that.
#[derive(Debug)]
pub struct Terminals {
    pool: Arc<TerminalPool>,
    profiles: ProgramProfiles,
}

impl Terminals {
    /// The terminals of a host that begins, with those that earlier hosts lost.
    ///
    /// # Errors
    /// Where a profile has a prompt that cannot be used.
    pub fn open(spawner: Spawner, settings: TerminalPoolSettings) -> Result<Self, InvalidProfile> {
        let profiles = ProgramProfiles::new(&settings.profiles, settings.limits.input_characters)?;
        Ok(Self { pool: Arc::new(TerminalPool::open(spawner, settings)), profiles })
    }

    /// How recordings are stored.
    #[must_use]
    pub fn at_rest(&self) -> &AtRest {
        &self.pool.settings.at_rest
    }

    /// All terminals of an owner, in the order in which they were opened.
    #[must_use]
    pub fn list(&self, owner: &TerminalOwner) -> Vec<TerminalInfo> {
        self.pool.infos(|other| other == owner).into_iter().map(|(_, info)| info).collect()
    }

    /// Every terminal and whose it is, for the operator.
    #[must_use]
    pub fn all(&self) -> Vec<(TerminalOwner, TerminalInfo)> {
        self.pool.infos(|_| true)
    }

    /// A terminal as it is now. This counts as no use of it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`], also for what belongs to somebody else.
    pub fn info(&self, owner: &TerminalOwner, id: TerminalId) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        Ok(self.find(owner, id)?.info())
    }

    /// Changes the size. The program is told.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Closed`]; or where the
    /// system refuses.
    pub fn resize(&self, owner: &TerminalOwner, id: TerminalId, size: TerminalSize) -> Result<(), TerminalError> {
        let terminal = self.used(owner, id)?;
        if terminal.is_over() {
            return Err(terminal.explained(TerminalError::Closed));
        }
        terminal.session.resize(size)
    }

    /// What there is, and what it has come to so far.
    #[must_use]
    pub fn metrics(&self) -> TerminalMetrics {
        let table = self.pool.table();
        let (open, busy) = table
            .terminals()
            .filter(|terminal| terminal.is_open())
            .fold((0, 0), |(open, busy), terminal| (open + 1, busy + usize::from(terminal.turn_runs())));
        drop(table);
        self.pool.counters.now(open, busy)
    }

    /// How turns of terminals ended, by reason and confidence.
    #[must_use]
    pub fn turns_ended(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.pool.counters.turns.totals()
    }

    /// The one way to a terminal: to anybody but its owner it looks like one that
    /// never was.
    fn find(&self, owner: &TerminalOwner, id: TerminalId) -> Result<Arc<PooledTerminal>, TerminalError> {
        self.own(id)?;
        let table = self.pool.table();
        if let Some(found) = table.find(owner, id) {
            return Ok(found);
        }
        Err(match table.find_lost(owner, id) {
            Some(lost) => TerminalError::Over { because: lost.because() },
            None => TerminalError::NotFound,
        })
    }

    /// Refuses what names another host, or an earlier incarnation of this one: it is gone,
    /// although something of it may still be here.
    fn own(&self, id: TerminalId) -> Result<(), TerminalError> {
        let is_of_another_host = self.pool.settings.handles.is_of_another_host(&id.0);
        if is_of_another_host { Err(TerminalError::HostEnded) } else { Ok(()) }
    }

    /// The same for what its owner does with it.
    fn used(&self, owner: &TerminalOwner, id: TerminalId) -> Result<Arc<PooledTerminal>, TerminalError> {
        self.find(owner, id).inspect(|terminal| terminal.touch())
    }

    /// A terminal that was lost with an earlier host.
    fn lost(&self, owner: &TerminalOwner, id: TerminalId) -> Option<Arc<LostTerminal>> {
        self.own(id).ok()?;
        self.pool.table().find_lost(owner, id)
    }

    /// How long a call may wait that asked to wait so long.
    fn patience(&self, wanted: Duration) -> Duration {
        wanted.min(Duration::from_millis(self.pool.settings.limits.wait_milliseconds))
    }

    /// Counts an error and hands it on.
    fn failed(&self, error: TerminalError) -> TerminalError {
        self.pool.counters.failed(error)
    }
}
