//! What a host does by itself: removes what has expired, closes what nobody uses,
//! and keeps workspaces within their quotas.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::{AbortHandle, spawn_blocking};
use wharf_core::{Streams, WorkspaceKey};
use wharf_engine::Rooms;
use wharf_process::{KilledBy, Processes};
use wharf_state::{HostTime, StateStore};
use wharf_terminal::Terminals;
use wharf_webview::WebViews;
use wharf_workspace::Workspaces;

use crate::configuration::TERMINAL_SWEEP;

/// How often idle state is looked for.
const STATE_SWEEP: Duration = Duration::from_secs(5 * 60);
/// How often ended processes and idle workspaces are looked for.
const FILE_SWEEP: Duration = Duration::from_secs(60 * 60);
/// How often web pages are looked for that nobody uses.
const PAGE_SWEEP: Duration = Duration::from_secs(60);
/// What closing pages may take.
const PAGE_END: Duration = Duration::from_secs(5);
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
        tasks.push(tokio::spawn(sweep_terminals(rooms.terminals.clone(), rooms.streams.clone())).abort_handle());
        if let Ok(webviews) = &rooms.webviews {
            tasks.push(tokio::spawn(sweep_pages(webviews.clone())).abort_handle());
        }
        if let Some(workspaces) = &rooms.workspaces {
            let inhabitants = Inhabitants {
                processes: rooms.processes.clone(),
                terminals: rooms.terminals.clone(),
                webviews: rooms.webviews.as_ref().ok().cloned(),
            };
            let time = rooms.state.host_time();
            tasks.push(tokio::spawn(sweep_files(Arc::clone(workspaces), inhabitants.clone(), time)).abort_handle());
            tasks.push(tokio::spawn(keep_quotas(Arc::clone(workspaces), inhabitants)).abort_handle());
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
    let time = state.host_time();
    let mut doubted = time.doubt().is_some();
    loop {
        ticks.tick().await;
        match state.sweep(time.passed()).await {
            Ok(swept) => tracing::debug!(?swept, "expired state removed"),
            Err(error) => tracing::warn!("expired state cannot be removed: {error}"),
        }
        // It was told already when the state was opened.
        let doubt = time.doubt();
        if let Some(doubt) = doubt.filter(|_| !doubted) {
            tracing::warn!("{doubt}; `wharf state confirm-clock` says that it is right");
        }
        doubted = doubt.is_some();
    }
}

/// Closes terminals that nobody uses, and forgets streams that ended long ago.
async fn sweep_terminals(terminals: Option<Arc<Terminals>>, streams: Streams) {
    let mut ticks = tokio::time::interval(TERMINAL_SWEEP);
    loop {
        ticks.tick().await;
        streams.sweep();
        let Some(terminals) = &terminals else { continue };
        let swept = terminals.sweep().await;
        if swept.closed > 0 {
            tracing::info!(closed = swept.closed, "terminals that nobody used were closed");
        }
    }
}

/// Closes web pages that nobody uses.
async fn sweep_pages(webviews: WebViews) {
    let mut ticks = tokio::time::interval(PAGE_SWEEP);
    loop {
        ticks.tick().await;
        let swept = webviews.sweep();
        if swept.closed > 0 {
            tracing::info!(closed = swept.closed, "web pages that nobody used were closed");
        }
    }
}

/// What runs in workspaces, or puts files there.
#[derive(Clone)]
struct Inhabitants {
    processes: Option<Arc<Processes>>,
    terminals: Option<Arc<Terminals>>,
    webviews: Option<WebViews>,
}

impl Inhabitants {
    /// The workspaces in which something runs.
    fn places(&self) -> BTreeSet<WorkspaceKey> {
        let processes = self.processes.as_ref().map(|processes| processes.running_sessions()).unwrap_or_default();
        let terminals = self.terminals.as_ref().map(|terminals| terminals.open_sessions()).unwrap_or_default();
        let pages = self.webviews.as_ref().map(WebViews::open_sessions).unwrap_or_default();
        let sessions = processes.into_iter().chain(terminals).chain(pages);
        sessions.map(|(tenant, session)| WorkspaceKey::restored(tenant, session)).collect()
    }

    /// Ends all that runs in a workspace that holds too much.
    async fn end(&self, key: &WorkspaceKey) -> usize {
        let mut ended = 0;
        if let Some(processes) = &self.processes {
            ended += processes.end_session(&key.tenant, &key.session, KilledBy::Quota).await;
        }
        if let Some(terminals) = &self.terminals {
            ended += terminals.end_session(&key.tenant, &key.session).await;
        }
        if let Some(webviews) = &self.webviews {
            ended += webviews.end_session(&key.tenant, &key.session, PAGE_END).await;
        }
        ended
    }
}

/// The first sweep is at once: what an earlier host left may be long over.
async fn sweep_files(workspaces: Arc<Workspaces>, inhabitants: Inhabitants, time: HostTime) {
    let mut ticks = tokio::time::interval(FILE_SWEEP);
    loop {
        ticks.tick().await;
        if let Some(processes) = &inhabitants.processes {
            let swept = processes.sweep(time.passed().into()).await;
            tracing::debug!(?swept, "ended processes removed");
        }
        let busy = inhabitants.places();
        let sweeping = Arc::clone(&workspaces);
        let now = time.passed();
        let swept = spawn_blocking(move || sweeping.sweep(now, |key| busy.contains(key))).await;
        match swept {
            Ok(Ok(0)) => {}
            Ok(Ok(swept)) => tracing::info!(swept, "workspaces that nobody used were removed"),
            Ok(Err(error)) => tracing::warn!("idle workspaces cannot be removed: {error}"),
            Err(error) => tracing::error!("idle workspaces were not looked for: {error}"),
        }
    }
}

/// Measures the workspaces in which something happens, and ends what runs in
/// those that hold too much.
async fn keep_quotas(workspaces: Arc<Workspaces>, inhabitants: Inhabitants) {
    loop {
        let began = Instant::now();
        let mut keys = inhabitants.places();
        keys.extend(workspaces.active());
        for key in keys {
            let (measuring, of) = (Arc::clone(&workspaces), key.clone());
            match spawn_blocking(move || measuring.is_over_quota(&of)).await {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => {
                    let ended = inhabitants.end(&key).await;
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
