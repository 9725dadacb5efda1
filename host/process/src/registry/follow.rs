//! The task that follows a process from its start until nothing of it is
//! left, and the only one that ends it: whoever wants that asks here. What it
//! orders, the supervisor of the child carries out by itself, so an escalation
//! is never left half-way.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use wharf_spawn::{Child, ChildEnd, ChildExit, SpawnError};

use super::{
    process::{Process, State},
    until,
};
use crate::{Exit, KilledBy, output::Failure};

/// After the leader's end its output is waited for so long and no longer:
/// descendants may hold the pipes open for ever.
const DRAIN: Duration = Duration::from_millis(50);
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

impl StopRequest {
    pub(super) fn order(&self) -> Order {
        let reason = match self.by {
            KilledBy::User => "it was stopped",
            KilledBy::Quota => "its session used up more than it may",
            KilledBy::TimeLimit => "its session ran for longer than it may",
            KilledBy::HostLost => "its host ended",
        };
        Order { by: self.by, reason: reason.into(), grace: self.grace }
    }
}

/// An end by the host.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) by: KilledBy,
    /// A sentence for people.
    pub(super) reason: String,
    grace: Duration,
}

impl Order {
    pub(super) fn state(&self) -> State {
        State::ended(Exit::Killed { by: self.by }, Some(self.reason.clone()))
    }
}

/// How long a process may run and be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) deadline: Option<Instant>,
    pub(super) lifetime: Duration,
    pub(super) silence: Option<Duration>,
}

impl Clocks {
    /// Until it has run for longer than it may.
    pub(super) async fn run_out(&self) -> Order {
        until(self.deadline).await;
        let reason = format!("it ran for longer than {} s", self.lifetime.as_secs_f64());
        Order { by: KilledBy::TimeLimit, reason, grace: LIMIT_GRACE }
    }
}

pub(super) async fn follow(
    process: Arc<Process>,
    child: Arc<Child>,
    mut stops: mpsc::Receiver<StopRequest>,
    clocks: Clocks,
) {
    let mut asked = Vec::new();
    let (ended, killed) = lead(&process, &child, &mut stops, &mut asked, clocks).await;
    // In vain where the pipes stay open; then the snapshot says so.
    let drained = async { tokio::join!(process.stdout.closed(), process.stderr.closed()) };
    drop(timeout(DRAIN, drained).await);
    // Before its end is told: from then on this says whether it still runs.
    process.set_descendants(ended.as_ref().map_or(0, |ended| ended.descendants));
    process.end(state(&process, ended, killed.clone())).await;
    process.input.lock().await.take();
    rest(&process, &child, &mut stops, &mut asked, clocks, killed).await;
    process.release();
    drop(asked);
}

fn state(process: &Process, ended: Result<ChildEnd, SpawnError>, killed: Option<Order>) -> State {
    match (killed.or_else(|| overflow(process)), ended) {
        (Some(order), _) => order.state(),
        (None, Ok(ChildEnd { exit: ChildExit::Exited { code }, .. })) => State::ended(Exit::Exited { code }, None),
        (None, Ok(ChildEnd { exit: ChildExit::Signaled { signal }, .. })) => {
            State::ended(Exit::Signaled { signal }, None)
        }
        (None, Err(lost)) => State::ended(Exit::Killed { by: KilledBy::HostLost }, Some(lost.to_string())),
    }
}

/// Until the leader's end; says who ended it, if the host did.
async fn lead(
    process: &Process,
    child: &Arc<Child>,
    stops: &mut mpsc::Receiver<StopRequest>,
    asked: &mut Vec<oneshot::Sender<()>>,
    clocks: Clocks,
) -> (Result<ChildEnd, SpawnError>, Option<Order>) {
    let mut killed: Option<Order> = None;
    loop {
        let order = select! {
            ended = child.wait() => return (ended, killed),
            Some(request) = stops.recv() => {
                let order = request.order();
                asked.push(request.done);
                order
            }
            order = clocks.run_out(), if killed.is_none() => order,
            order = silent(process, clocks.silence), if killed.is_none() => order,
            order = full(process), if killed.is_none() => order,
        };
        kill(child, order.grace);
        killed.get_or_insert(order);
    }
}

/// Until nothing of the tree is left. What the leader left behind can still be
/// stopped, and is at the deadline or when it prints too much.
async fn rest(
    process: &Process,
    child: &Arc<Child>,
    stops: &mut mpsc::Receiver<StopRequest>,
    asked: &mut Vec<oneshot::Sender<()>>,
    clocks: Clocks,
    mut killed: Option<Order>,
) {
    loop {
        let order = select! {
            () = child.wait_for_tree() => return,
            Some(request) = stops.recv() => {
                let order = request.order();
                asked.push(request.done);
                order
            }
            order = clocks.run_out(), if killed.is_none() => order,
            order = full(process), if killed.is_none() => order,
        };
        kill(child, order.grace);
        killed.get_or_insert(order);
    }
}

/// Orders the end of the tree. The supervisor sees to it, and a later order may
/// only bring it nearer.
fn kill(child: &Arc<Child>, grace: Duration) {
    let child = Arc::clone(child);
    tokio::spawn(async move {
        if let Err(error) = child.kill_tree(grace).await {
            tracing::debug!(%error, "a tree that was to end is gone");
        }
    });
}

/// Until one of the streams takes no more.
async fn full(process: &Process) -> Order {
    let (mut stdout, mut stderr) = (process.stdout.follow(), process.stderr.follow());
    loop {
        if let Some(order) = overflow(process) {
            return order;
        }
        // The senders live as long as the process, which is held here.
        select! {
            _ = stdout.wait_for(|progress| progress.failure.is_some()) => {}
            _ = stderr.wait_for(|progress| progress.failure.is_some()) => {}
        }
    }
}

/// Why a process ends whose output cannot be taken. It has shown that it does
/// not know when to stop.
fn overflow(process: &Process) -> Option<Order> {
    let failure = process.stdout.progress().failure.or(process.stderr.progress().failure)?;
    let reason = match failure {
        Failure::Quota => format!("it printed more than {} bytes", process.stdout.total_bytes()),
        Failure::Storage => "the host could not store its output".into(),
    };
    Some(Order { by: KilledBy::Quota, reason, grace: Duration::ZERO })
}

/// Until the process has printed nothing for so long.
async fn silent(process: &Process, silence: Option<Duration>) -> Order {
    let Some(silence) = silence else { return std::future::pending().await };
    loop {
        let Some(over) = process.last_output().checked_add(silence) else { return std::future::pending().await };
        if over <= Instant::now() {
            let reason = format!("it printed nothing for longer than {} s", silence.as_secs_f64());
            return Order { by: KilledBy::TimeLimit, reason, grace: LIMIT_GRACE };
        }
        sleep_until(over).await;
    }
}
