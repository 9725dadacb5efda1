//! The terminals of a host, from their admission until they are forgotten.
//!
//! Owns how many there are and for how long, what ends them and starts them
//! again, and what is known of those that ended. Never knows what a caller asks
//! of a terminal, nor which terminals a caller may see: that is `terminals`.
//!
//! | file | what it does |
//! |---|---|
//! | `pooled_terminal`, `event_stream` | one terminal, and the stream that tells of its turns |
//! | `table` | finds a terminal by its id |
//! | `quotas`, `admission` | counts terminals, and makes room for another |
//! | `keeper` | orders the end of a terminal, and starts a crashed program again |
//! | `tombstones`, `lost`, `journal` | what ended here, what an earlier host lost, what the next one finds |
//! | `exit_intent`, `end_cause` | whether a program crashed, and why a terminal is over, in words |

mod admission;
pub(crate) mod end_cause;
mod event_stream;
pub(crate) mod exit_intent;
mod id;
mod info;
mod journal;
mod keeper;
mod lost;
mod metrics;
mod pooled_terminal;
mod quotas;
mod settings;
mod table;
mod tombstones;

use std::{path::Path, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::TerminalOwner;
use wharf_encryption::AtRest;
use wharf_spawn::Spawner;

use self::{
    journal::{RecoveredTerminal, TerminalJournal},
    metrics::TerminalCounters,
    quotas::TerminalQuotas,
    table::TerminalTable,
};
use crate::recording::RecordingStore;

pub(crate) use self::{
    event_stream::TerminalEventStream,
    keeper::keep,
    lost::LostTerminal,
    pooled_terminal::{LaunchedTerminal, PlannedTerminal, PooledTerminal, TerminalLife},
};
pub use self::{
    id::TerminalId,
    info::{CloseReason, LaunchOutcome, ScreenSnapshot, Status, TerminalInfo, TurnOutput},
    metrics::{
        LIFE_BUCKETS_SECONDS, RESPONSE_BUCKETS_MILLISECONDS, TerminalFailureCounts, TerminalMetrics, TurnResponseTimes,
    },
    settings::{Restart, TerminalPoolSettings},
};

/// What the terminals of a host share with their keepers.
#[derive(Debug)]
pub(crate) struct TerminalPool {
    pub(crate) spawner: Spawner,
    pub(crate) settings: TerminalPoolSettings,
    pub(crate) counters: Arc<TerminalCounters>,
    quotas: TerminalQuotas,
    /// The recordings; none where terminals are not recorded.
    pub(crate) recordings: Option<Arc<RecordingStore>>,
    /// Where terminals are recorded, for the case that this host is lost.
    journal: Option<TerminalJournal>,
    /// Held for a look-up, never across an await.
    table: Mutex<TerminalTable>,
}

impl TerminalPool {
    /// A pool with those terminals that earlier hosts lost.
    pub(crate) fn open(spawner: Spawner, settings: TerminalPoolSettings) -> Self {
        let quotas = TerminalQuotas::new(&settings.limits);
        let recording = settings.recording.clone();
        let recordings =
            recording.map(|recording| RecordingStore::new(recording, &settings.limits, settings.at_rest.clone()));
        let records = settings.records.as_deref();
        let (journal, recovered) = records.and_then(|root| open_journal(root, &settings.at_rest)).unzip();
        let (counters, table) = (Arc::default(), Mutex::default());
        let pool = Self { spawner, settings, counters, quotas, recordings, journal, table };
        pool.take_over(recovered.unwrap_or_default());
        pool
    }

    /// Takes over what earlier hosts left: the last that lived first, as many as
    /// may be kept.
    fn take_over(&self, mut recovered: Vec<RecoveredTerminal>) {
        recovered.sort_by_key(|recovered| std::cmp::Reverse(recovered.record.saved));
        let mut table = self.table();
        for recovered in recovered {
            let (owner, id) = (recovered.record.owner.clone(), recovered.record.id);
            let of_owner = table.lost().filter(|lost| lost.record.owner == owner).count() as u64;
            let share = self.quotas.ended.take(&owner.tenant, &owner.session, 1);
            match share {
                Ok(share) if of_owner < self.settings.limits.ended_per_owner => {
                    tracing::warn!(
                        session = %owner.session, plugin = %owner.plugin, terminal = %id,
                        command = recovered.record.command,
                        "a terminal was lost when its host ended; the end of its text is kept"
                    );
                    table.insert_lost(Arc::new(LostTerminal::new(recovered, share)));
                    self.counters.lost();
                }
                _ => recovered.remove_files(),
            }
        }
    }

    /// The table, locked.
    pub(crate) fn table(&self) -> MutexGuard<'_, TerminalTable> {
        self.table.lock()
    }

    /// The terminals that run or have ended here, as far as they are wanted.
    pub(crate) fn select(&self, is_wanted: impl Fn(&PooledTerminal) -> bool) -> Vec<Arc<PooledTerminal>> {
        self.table().terminals().filter(|terminal| is_wanted(terminal)).cloned().collect()
    }

    /// The terminals of some owners in the order in which they were opened; those
    /// that were lost with an earlier host come first.
    pub(crate) fn infos(&self, counts: impl Fn(&TerminalOwner) -> bool) -> Vec<(TerminalOwner, TerminalInfo)> {
        let table = self.table();
        let mut lost: Vec<_> = table.lost().filter(|lost| counts(&lost.record.owner)).cloned().collect();
        let mut terminals: Vec<_> = table.terminals().filter(|terminal| counts(&terminal.owner)).cloned().collect();
        drop(table);
        lost.sort_by_key(|lost| (lost.record.started, lost.record.id));
        terminals.sort_by_key(|terminal| (terminal.began, terminal.id));
        let lost = lost.into_iter().map(|lost| (lost.record.owner.clone(), lost.info()));
        lost.chain(terminals.into_iter().map(|terminal| (terminal.owner.clone(), terminal.info()))).collect()
    }
}

/// Opens the journal below a directory, and says what earlier hosts left there.
/// Without one terminals work all the same.
fn open_journal(root: &Path, at_rest: &AtRest) -> Option<(TerminalJournal, Vec<RecoveredTerminal>)> {
    let opened = TerminalJournal::open(root, at_rest);
    opened.inspect_err(|error| tracing::warn!(%error, "terminals are not recorded in {}", root.display())).ok()
}
