//! One process: what it is, and what can be asked of it.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    task::spawn_blocking,
    time::{Instant, timeout_at},
};
use wharf_spawn::{Child, StdinPipe};

use super::{COUNT_PATIENCE, STOP_PATIENCE, StopRequest, ledger::Seat, timeout};
use crate::{
    Exit, KilledBy, Owner, ProcessError, ProcessId, Snapshot, Status, StreamName,
    output::Output,
    polls::{Guidance, PollMetrics, PollSettings, PolledStatus, Polls},
};

/// Where a process stands; changes twice at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) status: Status,
    pub(super) exit: Option<Exit>,
    /// Why the host ended it, for people.
    #[serde(default)]
    pub(super) reason: Option<String>,
    pub(super) finished: Option<DateTime<Utc>>,
}

impl State {
    pub(super) const STARTING: Self = Self { status: Status::Starting, exit: None, reason: None, finished: None };
    pub(super) const RUNNING: Self = Self { status: Status::Running, exit: None, reason: None, finished: None };

    pub(super) fn ended(exit: Exit, reason: Option<String>) -> Self {
        Self { status: exit.status(), exit: Some(exit), reason, finished: Some(Utc::now()) }
    }
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) owner: Owner,
    pub(super) command: String,
    /// Its record and its output, and nothing else.
    pub(super) directory: PathBuf,
    pub(super) started: DateTime<Utc>,
    /// The same on the clock that never goes back.
    pub(super) began: Instant,
    pub(super) stdout: Arc<Output>,
    pub(super) stderr: Arc<Output>,
    pub(super) state: watch::Sender<State>,
    /// Its place among all processes.
    pub(super) seat: Seat,
    /// Held to count, never across an await.
    pub(super) polls: Mutex<Polls>,
    /// Held while something is written, so that two writers do not mix.
    pub(super) input: tokio::sync::Mutex<Option<StdinPipe>>,
    /// The system's id of the leader, once it runs.
    pub(super) pid: OnceLock<u32>,
    /// As long as something of its tree lives: a tombstone holds no descriptor.
    pub(super) child: Mutex<Option<Arc<Child>>>,
    /// Descendants of a leader that has ended, when they were last counted.
    pub(super) descendants: AtomicU32,
    /// To the task that follows it, while there is something to stop.
    pub(super) stops: mpsc::Sender<StopRequest>,
}

impl Process {
    pub(super) fn status(&self) -> Status {
        self.state.borrow().status
    }

    pub(super) fn output(&self, stream: StreamName) -> &Arc<Output> {
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
        self.child.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It runs from now on.
    pub(super) fn adopt(&self, child: &Arc<Child>) {
        self.pid.get_or_init(|| child.pid());
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(child));
    }

    /// Nobody writes to it, or nobody wants to know.
    pub(super) fn close_streams(&self) {
        self.stdout.close();
        self.stderr.close();
    }

    /// Nothing of its tree is left.
    pub(super) fn release(&self) {
        self.set_descendants(0);
        self.seat.end(&self.owner);
        self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// How many descendants live, where the leader has ended. A supervisor that
    /// does not answer in time is taken at its last word.
    async fn count_descendants(&self) -> u32 {
        let Some(child) = self.child() else { return 0 };
        match timeout(COUNT_PATIENCE, child.descendants()).await {
            Ok(Ok(count)) => count,
            Ok(Err(_)) | Err(_) => self.descendants.load(SeqCst),
        }
    }

    pub(super) async fn snapshot(&self) -> Snapshot {
        let state = self.state.borrow().clone();
        let descendants = if state.status.has_ended() { Some(self.count_descendants().await) } else { None };
        self.picture(state, descendants)
    }

    /// Of what an earlier host ran, of which nothing is left.
    pub(super) fn tombstone(&self) -> Snapshot {
        self.picture(self.state.borrow().clone(), Some(0))
    }

    fn picture(&self, State { status, exit, reason, finished }: State, descendants: Option<u32>) -> Snapshot {
        Snapshot {
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
            polls: self.statistics(),
        }
    }

    pub(super) fn count_poll(
        &self,
        status: Status,
        settings: &PollSettings,
        metrics: &PollMetrics,
    ) -> Option<Guidance> {
        let mut polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        polls.record(self.began.elapsed(), PolledStatus(status), settings, metrics)
    }

    /// When it last printed something, or else when it began.
    pub(super) fn last_output(&self) -> Instant {
        self.began.max(self.stdout.progress().last).max(self.stderr.progress().last)
    }

    /// Ends it, once: on disk first, so that no later host calls it lost.
    pub(super) async fn end(self: &Arc<Self>, state: State) {
        if !self.status().has_ended() {
            self.save(state.clone()).await;
            // Its place is free before its end is told, unless it left something
            // running.
            if self.descendants.load(SeqCst) == 0 {
                self.seat.end(&self.owner);
            }
            self.state.send_replace(state);
        }
    }

    /// Writes down where it stands, on a thread that may wait for the disk.
    pub(super) async fn save(self: &Arc<Self>, state: State) {
        let process = Arc::clone(self);
        let saved = spawn_blocking(move || process.record(&state)).await;
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
                // What it took before is not unsaid.
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
