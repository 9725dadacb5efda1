//! One process: what it is, and what can be asked of it.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio::{
    net::unix::pipe,
    sync::{mpsc, oneshot, watch},
    time::{Instant, timeout_at},
};

use super::{STOP_PATIENCE, StopRequest, timeout};
use crate::{
    Child, Exit, KilledBy, Owner, ProcessError, ProcessId, Snapshot, Status, StreamName,
    output::Output,
    polls::{Guidance, PollMetrics, PollSettings, Polls},
};

/// Where a process stands; changes twice at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) status: Status,
    pub(super) exit: Option<Exit>,
    pub(super) finished: Option<DateTime<Utc>>,
}

impl State {
    pub(super) const STARTING: Self = Self { status: Status::Starting, exit: None, finished: None };
    pub(super) const RUNNING: Self = Self { status: Status::Running, exit: None, finished: None };

    pub(super) fn ended(exit: Exit) -> Self {
        Self { status: exit.status(), exit: Some(exit), finished: Some(Utc::now()) }
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
    /// Held to count, never across an await.
    pub(super) polls: Mutex<Polls>,
    /// Held while something is written, so that two writers do not mix.
    pub(super) input: tokio::sync::Mutex<Option<pipe::Sender>>,
    pub(super) child: OnceLock<Arc<dyn Child>>,
    /// The system's id of a child that an earlier host started.
    pub(super) former_pid: Option<u32>,
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

    pub(super) fn pid(&self) -> Option<u32> {
        self.child.get().map(|child| child.pid()).or(self.former_pid)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let State { status, exit, finished } = self.state.borrow().clone();
        Snapshot {
            id: self.id,
            command: self.command.clone(),
            pid: self.pid(),
            status,
            exit,
            started: self.started,
            finished,
            stdout: self.stdout.state(),
            stderr: self.stderr.state(),
            descendants: self.child.get().map_or(0, |child| child.descendants()),
        }
    }

    pub(super) fn count_poll(
        &self,
        status: Status,
        settings: &PollSettings,
        metrics: &PollMetrics,
    ) -> Option<Guidance> {
        let mut polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        polls.record(self.began.elapsed(), status, settings, metrics)
    }

    /// When it last printed something, or else when it began.
    pub(super) fn last_output(&self) -> Instant {
        self.began.max(self.stdout.progress().last).max(self.stderr.progress().last)
    }

    pub(super) fn streams_are_open(&self) -> bool {
        self.stdout.progress().open || self.stderr.progress().open
    }

    pub(super) async fn write(&self, bytes: &[u8], within: Duration) -> Result<usize, ProcessError> {
        let deadline = Instant::now() + within;
        let Ok(input) = timeout_at(deadline, self.input.lock()).await else { return Ok(0) };
        let pipe = input.as_ref().ok_or(ProcessError::InputClosed)?;
        let mut written = 0;
        while written < bytes.len() {
            match pipe.try_write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match timeout_at(deadline, pipe.writable()).await {
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
    pub(super) async fn stop(&self, grace: Duration) {
        let (done, is_done) = oneshot::channel();
        let request = StopRequest { by: KilledBy::User, grace, done };
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
