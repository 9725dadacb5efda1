//! The processes of a host, by owner and id.
//!
//! Owns what a host knows of its processes, and who may see which. What can be done with
//! one is in the files below; `table` finds it, `quotas` counts it, `journal` is what the
//! next host finds of it. It never knows how a child is contained.
//!
//! | file | what it does |
//! |---|---|
//! | `start`, `follow`, `sweep` | starts a process, ends it, removes it |
//! | `control`, `reading`, `wait`, `polling` | what an owner asks of one |
//! | `sessions` | what a limit or the operator asks of many |
//! | `look` | what the operator sees of one |

mod bounds;
mod control;
mod follow;
mod journal;
mod leader;
mod look;
mod polling;
mod process;
mod quotas;
mod reading;
mod sessions;
mod start;
mod state;
mod sweep;
mod table;
mod termination;
mod wait;

use std::{io, path::Path, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{ProcessLimits, grant::AllowedCommand};
use wharf_files::host_directory::HostDirectory;
use wharf_spawn::{Capabilities, Spawner, StandIn, policy::PolicyError};

use crate::{
    OpenError, Owner, ProcessError, ProcessId, ProcessSettings, ProcessSnapshot,
    ends::ProcessEnds,
    output::{CopierSlots, OutputReadError},
    polls::PollMetrics,
};
use process::Process;
use quotas::ProcessQuotas;
use table::{ProcessTable, oldest_first};

pub use bounds::ProcessBounds;
pub use look::ProcessLook;
pub use polling::PollReport;
pub use sessions::ProcessCounts;
pub use start::SpawnRequest;
pub use sweep::SweepReport;
pub use wait::{WaitCondition, WaitEnd, WaitOutcome};

/// The processes of a host.
///
/// They end with the host, however it ends; call [`Processes::shut_down`] where
/// there is time to ask them first. Dropping this ends none of them.
pub struct Processes {
    spawner: Spawner,
    copiers: CopierSlots,
    settings: ProcessSettings,
    directory: HostDirectory,
    quotas: ProcessQuotas,
    /// Held for a look-up, never across an await.
    table: Mutex<ProcessTable>,
    metrics: PollMetrics,
    ends: Arc<ProcessEnds>,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Processes").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Processes {
    /// Opens the directory of processes, and takes over what ended hosts left there: their
    /// tombstones with their output, and what they were running, as killed by the loss of
    /// its host. Processes that still run are killed, and files of no process are removed.
    /// Hosts that live keep theirs. Output that the limits have no room for is evicted, the
    /// oldest of each session and tenant first. The second part of the answer is what ran
    /// when its host ended. This waits for the disk: a host does it once, at its start.
    ///
    /// # Errors
    /// Where the directory cannot be read and written.
    pub fn open(
        directory: &Path,
        spawner: Spawner,
        settings: ProcessSettings,
    ) -> Result<(Self, Vec<(Owner, ProcessSnapshot)>), OpenError> {
        let failed = |source| OpenError { directory: directory.to_owned(), source };
        let settings = settings.bounded();
        let quotas = ProcessQuotas::new(&settings);
        let (directory, found) = journal::open(directory, &quotas, &settings.clock).map_err(failed)?;
        let mut table = ProcessTable::default();
        let mut lost = Vec::new();
        for (process, was_running) in found {
            let process = Arc::new(process);
            if was_running {
                lost.push(Arc::clone(&process));
            }
            table.insert(process);
        }
        count_inherited_output(&oldest_first(table.all()));
        let (copiers, metrics) = (CopierSlots::default(), PollMetrics::default());
        let lost = lost.iter().map(|process| (process.owner.clone(), process.tombstone())).collect();
        Ok((
            Self {
                spawner,
                copiers,
                settings,
                directory,
                quotas,
                table: Mutex::new(table),
                metrics,
                ends: Arc::default(),
            },
            lost,
        ))
    }

    /// What this machine offers for containing processes; tried once.
    ///
    /// # Errors
    /// [`ProcessError::Unknown`].
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, ProcessError> {
        self.spawner.capabilities().await.map_err(|source| ProcessError::Unknown { source })
    }

    /// The program that plays the part of an allowed command.
    pub(crate) fn stand_in(
        &self,
        command: &AllowedCommand<'_>,
        arguments: &[String],
    ) -> Result<Option<StandIn>, PolicyError> {
        self.spawner.stand_in(command, arguments)
    }

    /// What each process may use up.
    pub(crate) fn limits(&self) -> &ProcessLimits {
        &self.settings.limits
    }

    /// Bytes of output that are kept on disk, of all processes together.
    #[must_use]
    pub fn output_disk_bytes(&self) -> u64 {
        self.quotas.disk.used()
    }

    /// How many processes have ended since the host was opened, by a word of how: `success`, `failure`
    /// (another code), `signaled`, `not-started`, or why the host ended them.
    #[must_use]
    pub fn ends(&self) -> Vec<(&'static str, u64)> {
        self.ends.totals()
    }

    /// The one way to a process: to anybody but its owner it looks like one that never
    /// was. What an earlier incarnation of this host began is gone, although its output is
    /// still on this disk: the other hosts have said so.
    fn find(&self, owner: &Owner, id: ProcessId) -> Result<Arc<Process>, ProcessError> {
        if self.settings.handles.is_of_another_host(&id.0) {
            return Err(ProcessError::HostEnded);
        }
        self.table().find(owner, id).ok_or(ProcessError::NotFound)
    }

    /// What is answered where the output of a process cannot be read.
    fn unreadable(OutputReadError(source): OutputReadError) -> ProcessError {
        // Removed while it was being asked for.
        if source.kind() == io::ErrorKind::NotFound {
            return ProcessError::NotFound;
        }
        ProcessError::Storage { what: "read the output of the process", source }
    }

    fn table(&self) -> MutexGuard<'_, ProcessTable> {
        self.table.lock()
    }
}

/// Counts the output of processes that an earlier host left: the newest first, so that
/// the oldest finds no room.
fn count_inherited_output(oldest_first: &[Arc<Process>]) {
    for process in oldest_first.iter().rev() {
        process.stdout.count_inherited();
        process.stderr.count_inherited();
    }
    for process in oldest_first {
        process.close_streams();
    }
}
