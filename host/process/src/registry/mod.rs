//! The processes of a host, by owner and id.
//!
//! Owns who may see which process, how many a session runs, and their
//! tombstones. Files that belong together: `process` is one of them, `start`
//! brings it up, `follow` lives as long as it does, `wait` waits for it,
//! `journal` is what the next host finds of it, `sweep` removes it.

mod follow;
mod journal;
mod leftover;
mod process;
mod start;
mod sweep;
mod wait;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};
use wharf_core::{SessionId, TenantId};

use crate::{
    Launch, OpenError, Owner, ProcessError, ProcessId, Signal, Snapshot, StreamName,
    output::{OutputLimits, Piece, ReadError},
    polls::{Guidance, PollMetrics, PollSettings, PollTotals},
};
use follow::StopRequest;
use journal::Home;
use process::Process;
pub use start::SpawnRequest;
pub use sweep::Swept;
pub use wait::{Reason, Until, Waited};

/// What holds for all processes of a host.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Processes that a session may have starting or running at once.
    pub running_per_session: usize,
    /// Ended processes that a session keeps; the oldest goes first.
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
    pub polls: PollSettings,
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
            polls: PollSettings::default(),
        }
    }
}

/// The longest that a stop leaves to a process to end by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(60);
/// How long a stop waits for its effect, beyond the grace.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

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
type Table = HashMap<Session, HashMap<ProcessId, Arc<Process>>>;

/// The processes of a host.
///
/// They end with the host only if the launcher sees to it; call
/// [`Processes::shut_down`] where there is time for it.
pub struct Processes {
    launch: Arc<dyn Launch>,
    settings: Settings,
    home: Home,
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
    /// theirs. The second part of the answer is what was found running.
    ///
    /// # Errors
    /// Where the directory cannot be read and written.
    pub fn open(
        directory: &Path,
        launch: Arc<dyn Launch>,
        settings: Settings,
    ) -> Result<(Self, Vec<(Owner, Snapshot)>), OpenError> {
        let failed = |source| OpenError { directory: directory.to_owned(), source };
        let (home, found) = Home::open(directory).map_err(failed)?;
        let mut table = Table::new();
        let mut lost = Vec::new();
        for (process, was_running) in found {
            let process = Arc::new(process);
            if was_running {
                lost.push((process.owner.clone(), process.snapshot()));
            }
            table.entry(session(&process.owner)).or_default().insert(process.id, process);
        }
        let metrics = PollMetrics::default();
        Ok((Self { launch, settings, home, table: Mutex::new(table), metrics }, lost))
    }

    /// A process as it is now. This is for the host's own use: it counts as no
    /// poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else.
    pub fn snapshot(&self, owner: &Owner, id: ProcessId) -> Result<Snapshot, ProcessError> {
        Ok(self.find(owner, id)?.snapshot())
    }

    /// All processes of an owner, in the order in which they were started.
    #[must_use]
    pub fn list(&self, owner: &Owner) -> Vec<Snapshot> {
        let processes: Vec<_> = match self.table().get(&session(owner)) {
            Some(session) => session.values().filter(|process| process.owner == *owner).cloned().collect(),
            None => Vec::new(),
        };
        let mut snapshots: Vec<_> = processes.iter().map(|process| process.snapshot()).collect();
        snapshots.sort_by_key(|snapshot| (snapshot.started, snapshot.id));
        snapshots
    }

    /// Asks how a process does, with the last `lines` lines of each stream in
    /// at most `max_bytes` each. Counts as a poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else, in
    /// which case nothing is counted; or where its output cannot be read.
    pub fn poll(&self, owner: &Owner, id: ProcessId, lines: usize, max_bytes: usize) -> Result<Polled, ProcessError> {
        let process = self.find(owner, id)?;
        let snapshot = process.snapshot();
        let guidance = process.count_poll(snapshot.status, &self.settings.polls, &self.metrics);
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
    /// it took `within` the time: fewer than given where it does not read.
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

    /// Sends a signal to the group of a process. If it ends by that, its exit
    /// says which signal it was.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or [`ProcessError::Ended`] where nobody is
    /// there to receive it.
    pub fn signal(&self, owner: &Owner, id: ProcessId, signal: Signal) -> Result<(), ProcessError> {
        let process = self.find(owner, id)?;
        if process.status().has_ended() {
            return Err(ProcessError::Ended);
        }
        let child = process.child.get().ok_or(ProcessError::Ended)?;
        child.signal(signal).map_err(|_| ProcessError::Ended)
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
        process.stop(grace.min(LONGEST_GRACE)).await;
        Ok(process.snapshot())
    }

    /// Stops all processes, as [`Processes::stop`] does, at once.
    pub async fn shut_down(&self, grace: Duration) {
        let all: Vec<_> = self.table().values().flat_map(HashMap::values).cloned().collect();
        let stops: Vec<_> = all
            .into_iter()
            .map(|process| tokio::spawn(async move { process.stop(grace.min(LONGEST_GRACE)).await }))
            .collect();
        for stop in stops {
            if let Err(error) = stop.await {
                tracing::error!(%error, "a process was not stopped");
            }
        }
    }

    /// What polls and advice come to so far.
    #[must_use]
    pub fn poll_totals(&self) -> PollTotals {
        self.metrics.totals()
    }

    /// The one way to a process: who does not own it cannot tell it from one
    /// that never was.
    fn find(&self, owner: &Owner, id: ProcessId) -> Result<Arc<Process>, ProcessError> {
        let table = self.table();
        let found = table.get(&session(owner)).and_then(|session| session.get(&id));
        found.filter(|process| process.owner == *owner).cloned().ok_or(ProcessError::NotFound)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session(owner: &Owner) -> Session {
    (owner.tenant.clone(), owner.session.clone())
}

impl From<ReadError> for ProcessError {
    fn from(ReadError(source): ReadError) -> Self {
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
