//! The processes of a host, by owner and id.
//!
//! Owns who may see which process, how many a session runs, and their
//! tombstones. Files that belong together: `process` is one of them, `start`
//! brings it up, `follow` lives as long as it does, `wait` waits for it,
//! `journal` is what the next host finds of it, `sweep` removes it.

mod follow;
mod journal;
mod ledger;
mod leftover;
mod process;
mod sessions;
mod start;
mod statistics;
mod sweep;
mod wait;

use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};
use wharf_core::{ProcessLimits, SessionId, TenantId};

use crate::{
    KilledBy, OpenError, Owner, ProcessError, ProcessId, Signal, Snapshot, Status, StreamName,
    output::{Copiers, OutputLimits, Piece, ReadError},
    polls::{Guidance, GuidanceEffect, Language, PollMetrics, PollRules, PollSettings, PollTotals},
};
use follow::StopRequest;
use journal::Home;
use ledger::Ledger;
use process::Process;
pub use sessions::Counts;
pub use start::SpawnRequest;
pub use statistics::PollStatistics;
pub use sweep::Swept;
pub use wait::{Reason, Until, Waited};
use wharf_spawn::{Capabilities, Spawner};

/// What holds for all processes of a host.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Processes that a session may have starting or running at once; tenant and
    /// host as `limits` say.
    pub running_per_session: usize,
    /// Ended processes that a session keeps; the oldest goes first. Tenant and
    /// host as `limits` say.
    pub ended_per_session: usize,
    /// How long an ended process and its output are kept.
    pub tombstone_lifetime: Duration,
    /// What each of the two streams of a process may hold.
    pub output: OutputLimits,
    /// The longest that a process may run, whatever is asked for.
    pub lifetime: Duration,
    /// The longest wait that a call may ask for.
    pub longest_wait: Duration,
    /// How the polls are judged.
    pub polls: PollRules,
    /// What each process may use up, and all of a session, a tenant and the host
    /// together, as the table of limits has it.
    pub limits: ProcessLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            running_per_session: 20,
            ended_per_session: 1_000,
            tombstone_lifetime: Duration::from_secs(24 * 60 * 60),
            output: OutputLimits::default(),
            lifetime: Duration::from_secs(24 * 60 * 60),
            longest_wait: Duration::from_secs(10 * 60),
            polls: PollRules::default(),
            limits: ProcessLimits::default(),
        }
    }
}

/// The longest that a stop leaves to a process to end by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(60);
/// As long as any wait may be set to: a year.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long a stop waits for its effect, beyond the grace.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How long the count of a tree is waited for: it takes a supervisor a walk
/// through all processes of the machine.
const COUNT_PATIENCE: Duration = Duration::from_millis(500);

/// What a poll found.
#[derive(Debug)]
pub struct Polled {
    /// The process.
    pub process: Snapshot,
    /// The last lines of its standard output.
    pub stdout: Piece,
    /// The last lines of its standard error.
    pub stderr: Piece,
    /// What to do instead of polling so often.
    pub guidance: Option<Guidance>,
}

type Session = (TenantId, SessionId);

/// What there is, and whether more may come.
#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<Session, HashMap<ProcessId, Arc<Process>>>,
    closed: bool,
}

/// The processes of a host.
///
/// They end with the host, however it ends; call [`Processes::shut_down`] where
/// there is time to ask them first. Dropping this ends none of them.
pub struct Processes {
    spawner: Spawner,
    copiers: Copiers,
    settings: Settings,
    home: Home,
    ledger: Ledger,
    /// Held for a look-up, never across an await.
    table: Mutex<Table>,
    metrics: PollMetrics,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Processes").field("home", &self.home).finish_non_exhaustive()
    }
}

impl Processes {
    /// Opens the directory of processes. What hosts that are gone left there
    /// is taken over: their tombstones with their output, and what they were
    /// running as killed by the loss of its host. What still runs of that is
    /// killed, and files of no process are removed. Hosts that live keep
    /// theirs. Output that the limits have no room for goes, the oldest of each
    /// session and tenant first. The second part of the answer is what was found
    /// running. This waits for the disk: a host does it once, at its start.
    ///
    /// # Errors
    /// Where the directory cannot be read and written.
    pub fn open(
        directory: &Path,
        spawner: Spawner,
        settings: Settings,
    ) -> Result<(Self, Vec<(Owner, Snapshot)>), OpenError> {
        let failed = |source| OpenError { directory: directory.to_owned(), source };
        let longest_wait = settings.longest_wait.min(FOREVER);
        let settings = Settings { longest_wait, ..settings };
        let ledger = Ledger::new(&settings);
        let (home, found) = Home::open(directory, &ledger).map_err(failed)?;
        let mut table = Table::default();
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        for (process, was_running) in found {
            let process = Arc::new(process);
            if was_running {
                lost.push(Arc::clone(&process));
            }
            all.push(Arc::clone(&process));
            table.sessions.entry(session(&process.owner)).or_default().insert(process.id, process);
        }
        settle(all);
        let (copiers, metrics) = (Copiers::default(), PollMetrics::default());
        let lost = lost.iter().map(|process| (process.owner.clone(), process.tombstone())).collect();
        Ok((Self { spawner, copiers, settings, home, ledger, table: Mutex::new(table), metrics }, lost))
    }

    /// What this machine offers for containing processes; tried once.
    ///
    /// # Errors
    /// [`ProcessError::Unknown`].
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, ProcessError> {
        self.spawner.capabilities().await.map_err(|source| ProcessError::Unknown { source })
    }

    /// What each process may use up.
    pub(crate) fn limits(&self) -> &ProcessLimits {
        &self.settings.limits
    }

    /// A process as it is now. This is for the host's own use: it counts as no
    /// poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else.
    pub async fn snapshot(&self, owner: &Owner, id: ProcessId) -> Result<Snapshot, ProcessError> {
        Ok(self.find(owner, id)?.snapshot().await)
    }

    /// All processes of an owner, in the order in which they were started.
    pub async fn list(&self, owner: &Owner) -> Vec<Snapshot> {
        let mut processes: Vec<_> = match self.table().sessions.get(&session(owner)) {
            Some(session) => session.values().filter(|process| process.owner == *owner).cloned().collect(),
            None => Vec::new(),
        };
        processes.sort_by_key(|process| (process.started, process.id));
        let mut snapshots = Vec::with_capacity(processes.len());
        for process in processes {
            snapshots.push(process.snapshot().await);
        }
        snapshots
    }

    /// Asks how a process does, with the last `lines` lines of each stream in
    /// at most `max_bytes` each. Counts as a poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else, in
    /// which case nothing is counted; or where its output cannot be read.
    pub async fn poll(
        &self,
        owner: &Owner,
        id: ProcessId,
        lines: usize,
        max_bytes: usize,
    ) -> Result<Polled, ProcessError> {
        let process = self.find(owner, id)?;
        let snapshot = process.snapshot().await;
        let guidance = self.count_poll(&process, snapshot.status);
        let stdout = process.stdout.tail(lines, max_bytes)?;
        let stderr = process.stderr.tail(lines, max_bytes)?;
        Ok(Polled { process: snapshot, stdout, stderr, guidance })
    }

    /// Reads a stream from a cursor on; see [`crate::output::Output::read`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn read(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        cursor: u64,
        max_bytes: usize,
    ) -> Result<Piece, ProcessError> {
        Ok(self.find(owner, id)?.output(stream).read(cursor, max_bytes)?)
    }

    /// The last lines of a stream; see [`crate::output::Output::tail`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn tail(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        lines: usize,
        max_bytes: usize,
    ) -> Result<Piece, ProcessError> {
        Ok(self.find(owner, id)?.output(stream).tail(lines, max_bytes)?)
    }

    /// The first lines of a stream; see [`crate::output::Output::head`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn head(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        lines: usize,
        max_bytes: usize,
    ) -> Result<Piece, ProcessError> {
        Ok(self.find(owner, id)?.output(stream).head(lines, max_bytes)?)
    }

    /// Writes to the standard input of a process, and returns how many bytes
    /// it took `within` the time: fewer than given where it does not read, or
    /// ends.
    /// Whoever writes at the same time waits. Dropping the future may leave a
    /// part written.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or [`ProcessError::InputClosed`].
    pub async fn write(
        &self,
        owner: &Owner,
        id: ProcessId,
        bytes: &[u8],
        within: Duration,
    ) -> Result<usize, ProcessError> {
        let process = self.find(owner, id)?;
        process.write(bytes, within.min(self.settings.longest_wait)).await
    }

    /// Closes the standard input of a process, once what is being written to
    /// it is written. Closing it again does nothing.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub async fn close_input(&self, owner: &Owner, id: ProcessId) -> Result<(), ProcessError> {
        let process = self.find(owner, id)?;
        process.input.lock().await.take();
        Ok(())
    }

    /// Sends a signal to the group of a process, once it has started. If it
    /// ends by that, its exit says which signal it was.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], [`ProcessError::Ended`], or
    /// [`ProcessError::Unreachable`].
    pub async fn signal(&self, owner: &Owner, id: ProcessId, signal: Signal) -> Result<(), ProcessError> {
        let process = self.find(owner, id)?;
        // It cannot fail: the sender is part of the process, which is held here.
        drop(process.state.subscribe().wait_for(|state| state.status != Status::Starting).await);
        if process.status().has_ended() {
            return Err(ProcessError::Ended);
        }
        let child = process.child().ok_or(ProcessError::Ended)?;
        child.signal(signal).await.map_err(|source| ProcessError::Unreachable { source })
    }

    /// Stops a process: it is asked to end, killed once `grace` (a minute at
    /// most) is over, and with it whatever descends from it; also where only
    /// descendants are left. Returns how it is then. Once begun, the stop goes
    /// on though the future is dropped.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub async fn stop(&self, owner: &Owner, id: ProcessId, grace: Duration) -> Result<Snapshot, ProcessError> {
        let process = self.find(owner, id)?;
        process.stop(KilledBy::User, grace.min(LONGEST_GRACE)).await;
        Ok(process.snapshot().await)
    }

    /// What polls and advice come to so far.
    #[must_use]
    pub fn poll_totals(&self) -> PollTotals {
        self.metrics.totals()
    }

    /// What advice in one language did so far.
    #[must_use]
    pub fn guidance_effect(&self, language: Language) -> GuidanceEffect {
        self.metrics.effect(language)
    }

    /// Bytes of output that are kept on disk, of all processes together.
    #[must_use]
    pub fn output_disk_bytes(&self) -> u64 {
        self.ledger.disk.used()
    }

    fn count_poll(&self, process: &Process, status: Status) -> Option<Guidance> {
        process.count_poll(status, &self.poll_settings(&process.owner), &self.metrics)
    }

    /// How the polls of an owner are judged.
    pub(crate) fn poll_settings(&self, owner: &Owner) -> PollSettings {
        self.settings.polls.of(&owner.tenant, &owner.session)
    }

    /// The one way to a process: who does not own it cannot tell it from one
    /// that never was.
    fn find(&self, owner: &Owner, id: ProcessId) -> Result<Arc<Process>, ProcessError> {
        let table = self.table();
        let found = table.sessions.get(&session(owner)).and_then(|session| session.get(&id));
        found.filter(|process| process.owner == *owner).cloned().ok_or(ProcessError::NotFound)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the output of processes that an earlier host has left: the newest
/// first, so that it is the oldest that finds no room.
fn settle(mut processes: Vec<Arc<Process>>) {
    processes.sort_by_key(|process| std::cmp::Reverse((process.started, process.id)));
    for process in &processes {
        process.stdout.settle();
        process.stderr.settle();
    }
    for process in processes.iter().rev() {
        process.close_streams();
    }
}

fn session(owner: &Owner) -> Session {
    (owner.tenant.clone(), owner.session.clone())
}

impl From<ReadError> for ProcessError {
    fn from(ReadError(source): ReadError) -> Self {
        // Removed while it was being asked for.
        if source.kind() == io::ErrorKind::NotFound {
            return Self::NotFound;
        }
        Self::Storage { what: "read the output of the process", source }
    }
}

/// Sleeps until then; for ever where there is no such time.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
