//! What a host does by itself: removes what has expired, and keeps workspaces
//! within their quotas.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use tokio::task::{AbortHandle, spawn_blocking};
use wharf_core::WorkspaceKey;
use wharf_engine::Rooms;
use wharf_process::{KilledBy, Processes};
use wharf_state::StateStore;
use wharf_workspace::Workspaces;

/// How often idle state is looked for.
const STATE_SWEEP: Duration = Duration::from_secs(5 * 60);
/// How often ended processes and idle workspaces are looked for.
const FILE_SWEEP: Duration = Duration::from_secs(60 * 60);
/// How often workspaces in use are measured, at most...
const MEASURE: Duration = Duration::from_secs(1);
/// ...and how many times longer than measuring takes it rests, so that large
/// workspaces do not keep a disk busy.
const REST: u32 = 10;

/// The tasks of a host; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Background(Vec<AbortHandle>);

impl Background {
    pub(crate) fn start(rooms: &Rooms) -> Self {
        let mut tasks = vec![tokio::spawn(sweep_state(Arc::clone(&rooms.state))).abort_handle()];
        if let Some(workspaces) = &rooms.workspaces {
            let (workspaces, processes) = (Arc::clone(workspaces), rooms.processes.clone());
            tasks.push(tokio::spawn(sweep_files(Arc::clone(&workspaces), processes.clone())).abort_handle());
            tasks.push(tokio::spawn(keep_quotas(workspaces, processes)).abort_handle());
        }
        Self(tasks)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

async fn sweep_state(state: Arc<dyn StateStore>) {
    let mut ticks = tokio::time::interval(STATE_SWEEP);
    // The first tick is at once, and a start has better things to do.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        match state.sweep(SystemTime::now()).await {
            Ok(swept) => tracing::debug!(?swept, "expired state removed"),
            Err(error) => tracing::warn!("expired state cannot be removed: {error}"),
        }
    }
}

/// The first sweep is at once: what an earlier host left may be long over.
async fn sweep_files(workspaces: Arc<Workspaces>, processes: Option<Arc<Processes>>) {
    let mut ticks = tokio::time::interval(FILE_SWEEP);
    loop {
        ticks.tick().await;
        let mut busy = BTreeSet::new();
        if let Some(processes) = &processes {
            let swept = processes.sweep(SystemTime::now().into()).await;
            tracing::debug!(?swept, "ended processes removed");
            busy = running(processes);
        }
        let sweeping = Arc::clone(&workspaces);
        let swept = spawn_blocking(move || sweeping.sweep(SystemTime::now(), |key| busy.contains(key))).await;
        match swept {
            Ok(Ok(0)) => {}
            Ok(Ok(swept)) => tracing::info!(swept, "workspaces that nobody used were removed"),
            Ok(Err(error)) => tracing::warn!("idle workspaces cannot be removed: {error}"),
            Err(error) => tracing::error!("idle workspaces were not looked for: {error}"),
        }
    }
}

fn running(processes: &Processes) -> BTreeSet<WorkspaceKey> {
    let sessions = processes.running_sessions().into_iter();
    sessions.map(|(tenant, session)| WorkspaceKey::restored(tenant, session)).collect()
}

/// Measures the workspaces in which something happens, and ends the processes
/// of those that hold too much.
async fn keep_quotas(workspaces: Arc<Workspaces>, processes: Option<Arc<Processes>>) {
    loop {
        let began = Instant::now();
        let mut keys = processes.as_deref().map(running).unwrap_or_default();
        keys.extend(workspaces.active());
        for key in keys {
            let (measuring, of) = (Arc::clone(&workspaces), key.clone());
            match spawn_blocking(move || measuring.is_over_quota(&of)).await {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => {
                    let Some(processes) = &processes else { continue };
                    let ended = processes.end_session(&key.tenant, &key.session, KilledBy::Quota).await;
                    if ended > 0 {
                        tracing::warn!(session = %key.session, ended, "a workspace holds more than it may; its processes were ended");
                    }
                }
                Ok(Err(error)) => tracing::warn!(session = %key.session, "a workspace cannot be measured: {error}"),
                Err(error) => tracing::error!("workspaces are not measured: {error}"),
            }
        }
        tokio::time::sleep(MEASURE.max(began.elapsed() * REST)).await;
    }
}
