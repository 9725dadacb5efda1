//! The task that follows a process from its start until nothing of it is
//! left, and the only one that ends it: whoever wants that asks here, so that
//! an escalation is never left half-way.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};

use super::{
    process::{Process, State},
    until,
};
use crate::{Child, ChildExit, Exit, KilledBy, Signal, output::Output};

/// After the leader's end its output is waited for so long and no longer:
/// descendants may hold the pipes open for ever.
const DRAIN: Duration = Duration::from_millis(50);
/// A tree that cannot be killed in this time hangs in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// What a process that has run for too long may take to end by itself.
const LIMIT_GRACE: Duration = Duration::from_secs(2);

/// Asks the task to stop its process.
#[derive(Debug)]
pub(super) struct StopRequest {
    pub(super) by: KilledBy,
    pub(super) grace: Duration,
    /// Told, or dropped, once nothing of it runs any more.
    pub(super) done: oneshot::Sender<()>,
}

/// How long a process may run and be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) deadline: Option<Instant>,
    pub(super) silence: Option<Duration>,
}

pub(super) async fn follow(
    process: Arc<Process>,
    child: Arc<dyn Child>,
    mut stops: mpsc::Receiver<StopRequest>,
    clocks: Clocks,
) {
    let mut asked = Vec::new();
    let (ended, killed) = lead(&process, child.as_ref(), &mut stops, &mut asked, clocks).await;
    if killed.is_some() {
        kill(&process, child.as_ref()).await;
    }
    // In vain where the pipes stay open; then the snapshot says so.
    let drained = async { tokio::join!(closed(&process.stdout), closed(&process.stderr)) };
    drop(timeout(DRAIN, drained).await);
    let over = process.stdout.progress().failure.or(process.stderr.progress().failure);
    let exit = match (killed, ended) {
        (Some(by), _) => Exit::Killed { by },
        (None, _) if over.is_some() => Exit::Killed { by: KilledBy::Quota },
        (None, ChildExit::Exited(code)) => Exit::Exited { code },
        (None, ChildExit::Signaled(signal)) => Exit::Signaled { signal },
        (None, ChildExit::Unknown) => Exit::Killed { by: KilledBy::HostLost },
    };
    process.end(exit);
    process.input.lock().await.take();
    drop(asked);

    // What is left of its tree can still be stopped, and is at the deadline.
    if process.streams_are_open() || child.descendants() > 0 {
        let request = select! {
            request = stops.recv() => request,
            () = until(clocks.deadline) => None,
            () = failed(&process) => None,
        };
        kill(&process, child.as_ref()).await;
        drop(request);
    }
}

/// Until the leader's end; says who ended it, if the host did.
async fn lead(
    process: &Process,
    child: &dyn Child,
    stops: &mut mpsc::Receiver<StopRequest>,
    asked: &mut Vec<oneshot::Sender<()>>,
    clocks: Clocks,
) -> (ChildExit, Option<KilledBy>) {
    let mut killed = None;
    let mut kill_at: Option<Instant> = None;
    loop {
        let (by, grace) = select! {
            ended = child.wait() => return (ended, killed),
            Some(request) = stops.recv() => {
                asked.push(request.done);
                (request.by, request.grace)
            }
            () = until(clocks.deadline), if killed.is_none() => (KilledBy::TimeLimit, LIMIT_GRACE),
            () = silent(process, clocks.silence), if killed.is_none() => (KilledBy::TimeLimit, LIMIT_GRACE),
            // It has shown that it does not know when to stop.
            () = failed(process), if killed.is_none() => (KilledBy::Quota, Duration::ZERO),
            () = until(kill_at), if kill_at.is_some() => {
                kill_at = None;
                kill(process, child).await;
                continue;
            }
        };
        killed.get_or_insert(by);
        let until = Instant::now() + grace;
        kill_at = Some(kill_at.map_or(until, |earlier| earlier.min(until)));
        if let Err(error) = child.signal(Signal::Terminate) {
            tracing::debug!(process = %process.id, %error, "a process that is to end cannot be asked to");
        }
    }
}

async fn kill(process: &Process, child: &dyn Child) {
    if timeout(KILL_PATIENCE, child.kill_tree()).await.is_err() {
        tracing::warn!(process = %process.id, "a process tree does not die");
    }
}

async fn closed(output: &Output) {
    // It fails where the stream is gone: closed, too.
    drop(output.follow().wait_for(|progress| !progress.open).await);
}

/// Until one of the streams takes no more.
async fn failed(process: &Process) {
    let (mut stdout, mut stderr) = (process.stdout.follow(), process.stderr.follow());
    select! {
        _ = stdout.wait_for(|progress| progress.failure.is_some()) => {}
        _ = stderr.wait_for(|progress| progress.failure.is_some()) => {}
    }
}

/// Until the process has printed nothing for so long.
async fn silent(process: &Process, silence: Option<Duration>) {
    let Some(silence) = silence else { return std::future::pending().await };
    loop {
        let over = process.last_output() + silence;
        if over <= Instant::now() {
            return;
        }
        sleep_until(over).await;
    }
}

impl Process {
    /// Ends it, once: on disk first, so that no later host calls it lost.
    pub(super) fn end(&self, exit: Exit) {
        let state = State::ended(exit);
        if let Err(error) = self.record(&state) {
            tracing::error!(process = %self.id, %error, "the end of a process is not recorded");
        }
        self.state.send_replace(state);
    }
}
