//! The task that follows a process from its start until nothing of it is left.
//!
//! It alone ends the process; all others send it a stop request. The child's supervisor
//! carries out each order by itself, so an escalation is never left half-way.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use wharf_spawn::{Child, ChildEnd, ChildExit, SpawnError};

use super::{
    process::Process,
    termination::{LIMIT_GRACE, StopRequest, TerminationOrder, TimeLimits},
};
use crate::{Exit, KilledBy, output::CaptureFailure};

/// How long the rest of the output is waited for after the leader's end:
/// descendants may hold the pipes open for ever.
const DRAIN: Duration = Duration::from_millis(50);
pub(super) async fn follow(
    process: Arc<Process>,
    child: Arc<Child>,
    mut stops: mpsc::Receiver<StopRequest>,
    limits: TimeLimits,
) {
    // Dropping them tells everybody who asked for a stop that nothing runs any more.
    let mut stopped = Vec::new();
    let (ended, killed) = follow_leader(&process, &child, &mut stops, &mut stopped, limits).await;
    // In vain where the pipes stay open; then the snapshot says so.
    let drained = async { tokio::join!(process.stdout.closed(), process.stderr.closed()) };
    drop(timeout(DRAIN, drained).await);
    // Before its end is told: from then on this says whether it still runs.
    process.set_descendants(ended.as_ref().map_or(0, |ended| ended.descendants));
    let (exit, reason) = final_exit(&process, ended, killed.clone());
    process.end(exit, reason).await;
    process.input.lock().await.take();
    follow_descendants(&process, &child, &mut stops, &mut stopped, limits, killed).await;
    process.release();
    drop(stopped);
}

/// How it ended, and why where the host ended it.
fn final_exit(
    process: &Process,
    ended: Result<ChildEnd, SpawnError>,
    killed: Option<TerminationOrder>,
) -> (Exit, Option<String>) {
    match (killed.or_else(|| refusal_of_output(process)), ended) {
        (Some(order), _) => order.exit(),
        (None, Ok(ChildEnd { exit: ChildExit::Exited { code }, .. })) => (Exit::Exited { code }, None),
        (None, Ok(ChildEnd { exit: ChildExit::Signaled { signal }, .. })) => (Exit::Signaled { signal }, None),
        (None, Err(lost)) => (Exit::Killed { by: KilledBy::HostLost }, Some(lost.to_string())),
    }
}

/// Follows until the leader's end; says why the host ended it, if it did.
async fn follow_leader(
    process: &Process,
    child: &Arc<Child>,
    stops: &mut mpsc::Receiver<StopRequest>,
    stopped: &mut Vec<oneshot::Sender<()>>,
    limits: TimeLimits,
) -> (Result<ChildEnd, SpawnError>, Option<TerminationOrder>) {
    let mut killed: Option<TerminationOrder> = None;
    loop {
        let order = select! {
            ended = child.wait() => return (ended, killed),
            Some(request) = stops.recv() => {
                let order = request.order();
                stopped.push(request.done);
                order
            }
            order = limits.over(), if killed.is_none() => order,
            order = silent_for_too_long(process, limits.silence), if killed.is_none() => order,
            order = output_refused(process), if killed.is_none() => order,
        };
        kill(child, order.grace);
        killed.get_or_insert(order);
    }
}

/// Follows until nothing of the tree is left. Descendants can still be stopped, and they
/// are at the deadline or when they print too much.
async fn follow_descendants(
    process: &Process,
    child: &Arc<Child>,
    stops: &mut mpsc::Receiver<StopRequest>,
    stopped: &mut Vec<oneshot::Sender<()>>,
    limits: TimeLimits,
    mut killed: Option<TerminationOrder>,
) {
    loop {
        let order = select! {
            () = child.wait_for_tree() => return,
            Some(request) = stops.recv() => {
                let order = request.order();
                stopped.push(request.done);
                order
            }
            order = limits.over(), if killed.is_none() => order,
            order = output_refused(process), if killed.is_none() => order,
        };
        kill(child, order.grace);
        killed.get_or_insert(order);
    }
}

/// Orders the end of the tree. The supervisor carries it out; a later order can only
/// shorten the grace.
fn kill(child: &Arc<Child>, grace: Duration) {
    let child = Arc::clone(child);
    tokio::spawn(async move {
        if let Err(error) = child.kill_tree(grace).await {
            tracing::debug!(%error, "a tree that was to end is gone");
        }
    });
}

/// Until one of the streams takes no more.
async fn output_refused(process: &Process) -> TerminationOrder {
    let (mut stdout, mut stderr) = (process.stdout.follow(), process.stderr.follow());
    loop {
        if let Some(order) = refusal_of_output(process) {
            return order;
        }
        // The senders live as long as the process, which is held here.
        select! {
            _ = stdout.wait_for(|progress| progress.failure.is_some()) => {}
            _ = stderr.wait_for(|progress| progress.failure.is_some()) => {}
        }
    }
}

/// Why a process ends whose output is not taken any more; without grace, since it has
/// shown that it does not know when to stop.
fn refusal_of_output(process: &Process) -> Option<TerminationOrder> {
    let failure = process.stdout.progress().failure.or(process.stderr.progress().failure)?;
    let reason = match failure {
        CaptureFailure::Quota => format!("it printed more than {} bytes", process.stdout.total_bytes()),
        CaptureFailure::Storage => "the host could not store its output".into(),
    };
    Some(TerminationOrder { by: KilledBy::Quota, reason, grace: Duration::ZERO })
}

/// Until the process has printed nothing for so long.
async fn silent_for_too_long(process: &Process, silence: Option<Duration>) -> TerminationOrder {
    let Some(silence) = silence else { return std::future::pending().await };
    loop {
        let Some(over) = process.last_output().checked_add(silence) else { return std::future::pending().await };
        if over <= Instant::now() {
            let reason = format!("it printed nothing for longer than {} s", silence.as_secs_f64());
            return TerminationOrder { by: KilledBy::TimeLimit, reason, grace: LIMIT_GRACE };
        }
        sleep_until(over).await;
    }
}
