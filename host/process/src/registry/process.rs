//! One process: what it is, and what can be asked of it.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    task::spawn_blocking,
    time::{Instant, timeout, timeout_at},
};
use wharf_core::{WorkspaceStay, grant::GrantClock};
use wharf_spawn::{Child, SandboxMechanism, StdinPipe};

use super::{bounds::ProcessBounds, quotas::ProcessSlot, state::ProcessState, termination::StopRequest};
use crate::{
    Exit, KilledBy, Owner, ProcessError, ProcessId, ProcessSnapshot, Status, StreamName, ends::ProcessEnds,
    output::CapturedOutput, polls::Polls,
};

/// How long a stop waits for its effect, beyond the grace.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How long a poll waits for the count of a tree: the supervisor walks through all
/// processes of the machine for it.
const COUNT_PATIENCE: Duration = Duration::from_millis(500);

/// One process of a host, from its start until it is forgotten.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) owner: Owner,
    pub(super) command: String,
    /// Its record and its output, and nothing else.
    pub(super) directory: PathBuf,
    pub(super) started: DateTime<Utc>,
    /// Stamps its end.
    pub(super) clock: GrantClock,
    /// The same on the clock that never goes back.
    pub(super) began: Instant,
    pub(super) stdout: Arc<CapturedOutput>,
    pub(super) stderr: Arc<CapturedOutput>,
    pub(super) state: watch::Sender<ProcessState>,
    /// What it counts as in the quotas.
    pub(super) slot: ProcessSlot,
    /// Keeps its workspace, as long as something of it runs.
    pub(super) stay: Mutex<Option<WorkspaceStay>>,
    /// Held to count, never across an await.
    pub(super) polls: Mutex<Polls>,
    /// Held while something is written, so that two writers do not mix.
    pub(super) input: tokio::sync::Mutex<Option<StdinPipe>>,
    /// The system's id of the leader, once it runs.
    pub(super) pid: OnceLock<u32>,
    /// What it may use up and reach; absent for one of an earlier host.
    pub(super) bounds: Option<ProcessBounds>,
    /// What contains it, once it runs.
    pub(super) mechanism: OnceLock<SandboxMechanism>,
    /// Held while somebody looks at its tree, which it may make wait.
    pub(super) looks: Arc<tokio::sync::Mutex<()>>,
    /// As long as something of its tree lives: a tombstone holds no descriptor.
    pub(super) child: Mutex<Option<Arc<Child>>>,
    /// Descendants of a leader that has ended, when they were last counted.
    pub(super) descendants: AtomicU32,
    /// Where its end is counted.
    pub(super) ends: Arc<ProcessEnds>,
    /// To the task that follows it, while there is something to stop.
    pub(super) stops: mpsc::Sender<StopRequest>,
}

impl Process {
    pub(super) fn status(&self) -> Status {
        self.state.borrow().status
    }

    pub(super) fn output(&self, stream: StreamName) -> &Arc<CapturedOutput> {
        match stream {
            StreamName::Stdout => &self.stdout,
            StreamName::Stderr => &self.stderr,
        }
    }

    /// Whether something of it runs, be it only what its leader left behind.
    pub(super) fn is_alive(&self) -> bool {
        // In this order: the count is set before the end is told.
        !self.status().has_ended() || self.descendants.load(SeqCst) > 0
    }

    pub(super) fn set_descendants(&self, count: u32) {
        self.descendants.store(count, SeqCst);
    }

    pub(super) fn child(&self) -> Option<Arc<Child>> {
        self.child.lock().clone()
    }

    /// It runs from now on.
    pub(super) fn attach(&self, child: &Arc<Child>) {
        self.pid.get_or_init(|| child.pid());
        if let Some(mechanism) = child.mechanism() {
            self.mechanism.get_or_init(|| mechanism);
        }
        *self.child.lock() = Some(Arc::clone(child));
    }

    /// Nobody can write to them any more, or nobody wants to know what is written.
    pub(super) fn close_streams(&self) {
        self.stdout.close();
        self.stderr.close();
    }

    /// Nothing of its tree is left.
    pub(super) fn release(&self) {
        self.set_descendants(0);
        self.leave();
        self.child.lock().take();
    }

    /// Nothing of it runs any more: its slot is free, and its workspace may go.
    fn leave(&self) {
        self.slot.end(&self.owner);
        self.stay.lock().take();
    }

    /// How many descendants live, where the leader has ended. Where the supervisor does
    /// not answer in time, its last count stands.
    async fn count_descendants(&self) -> u32 {
        let Some(child) = self.child() else { return 0 };
        match timeout(COUNT_PATIENCE, child.descendants()).await {
            Ok(Ok(count)) => count,
            Ok(Err(_)) | Err(_) => self.descendants.load(SeqCst),
        }
    }

    pub(super) async fn snapshot(&self) -> ProcessSnapshot {
        let state = self.state.borrow().clone();
        let descendants = if state.status.has_ended() { Some(self.count_descendants().await) } else { None };
        self.snapshot_in(state, descendants)
    }

    /// A snapshot of what an earlier host ran and of which nothing is left.
    pub(super) fn tombstone(&self) -> ProcessSnapshot {
        self.snapshot_in(self.state.borrow().clone(), Some(0))
    }

    fn snapshot_in(
        &self,
        ProcessState { status, exit, reason, finished }: ProcessState,
        descendants: Option<u32>,
    ) -> ProcessSnapshot {
        ProcessSnapshot {
            id: self.id,
            command: self.command.clone(),
            pid: self.pid.get().copied(),
            status,
            exit,
            reason,
            started: self.started,
            finished,
            stdout: self.stdout.state(),
            stderr: self.stderr.state(),
            descendants,
            polls: self.poll_statistics(),
        }
    }

    /// Whether it ended so long ago, or longer.
    pub(super) fn has_been_ended_for(&self, lifetime: Duration, now: DateTime<Utc>) -> bool {
        let finished = self.state.borrow().finished;
        finished.is_some_and(|finished| (now - finished).to_std().is_ok_and(|past| past >= lifetime))
    }

    /// When it last printed something, or else when it began.
    pub(super) fn last_output(&self) -> Instant {
        self.began.max(self.stdout.progress().last).max(self.stderr.progress().last)
    }

    /// Ends it, once: on disk first, so that no later host calls it lost.
    pub(super) async fn end(self: &Arc<Self>, exit: Exit, reason: Option<String>) {
        if !self.status().has_ended() {
            self.ends.count(&exit);
            let state = ProcessState::ended(exit, reason, self.clock.now().into());
            self.save(state.clone()).await;
            // Its slot is free before its end is told, unless it left something
            // running.
            if self.descendants.load(SeqCst) == 0 {
                self.leave();
            }
            self.state.send_replace(state);
        }
    }

    /// Records where it stands, on a thread that may wait for the disk.
    pub(super) async fn save(self: &Arc<Self>, state: ProcessState) {
        let process = Arc::clone(self);
        let saved = spawn_blocking(move || process.write_record(&state)).await;
        if let Err(error) = saved.map_err(io::Error::other).flatten() {
            tracing::error!(process = %self.id, %error, "where a process stands is not recorded");
        }
    }

    pub(super) async fn write(&self, bytes: &[u8], within: Duration) -> Result<usize, ProcessError> {
        let deadline = Instant::now() + within;
        let Ok(input) = timeout_at(deadline, self.input.lock()).await else { return Ok(0) };
        let pipe = input.as_ref().ok_or(ProcessError::InputClosed)?;
        let mut states = self.state.subscribe();
        let mut written = 0;
        while written < bytes.len() {
            match pipe.try_write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // What the leader left behind may hold the other end and
                    // never read; nobody else may wait for that.
                    let ready = select! {
                        ready = timeout_at(deadline, pipe.writable()) => ready,
                        _ = states.wait_for(|state| state.status.has_ended()) => break,
                    };
                    match ready {
                        Ok(ready) => ready.map_err(ProcessError::storage("wait for the process to read"))?,
                        Err(_) => break,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The bytes that it took before still count.
                Err(_) if written > 0 => break,
                Err(_) => return Err(ProcessError::InputClosed),
            }
        }
        Ok(written)
    }

    /// Returns once nothing of it runs any more, or patience is over.
    pub(super) async fn stop(&self, by: KilledBy, grace: Duration) {
        let (done, is_done) = oneshot::channel();
        let request = StopRequest { by, grace, done };
        let stopped = async {
            // Refused where nobody follows it: then nothing of it runs.
            if self.stops.send(request).await.is_ok() {
                // An error says the same: nobody follows it any more.
                drop(is_done.await);
            }
        };
        if timeout(grace + STOP_PATIENCE, stopped).await.is_err() {
            tracing::warn!(process = %self.id, "a process does not end though it was killed");
        }
    }
}
