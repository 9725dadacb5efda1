//! What a host does by itself: removes what has expired, closes what nobody uses,
//! and keeps workspaces within their quotas.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    task::{AbortHandle, JoinSet, spawn_blocking},
    time::MissedTickBehavior,
};
use wharf_completion::Streams;
use wharf_core::{QuotaFull, TenantId, WorkspaceKey};
use wharf_engine::Backends;
use wharf_process::{KilledBy, Processes};
use wharf_state::{HostTime, StateStore};
use wharf_terminal::Terminals;
use wharf_webview::WebViews;
use wharf_workspace::{Volume, Workspaces};

use crate::configuration::TERMINAL_SWEEP;

/// How often idle state is looked for.
const STATE_SWEEP: Duration = Duration::from_secs(5 * 60);
/// How often ended processes and idle workspaces are looked for.
const FILE_SWEEP: Duration = Duration::from_secs(60 * 60);
/// How often web pages are looked for that nobody uses.
const PAGE_SWEEP: Duration = Duration::from_secs(60);
/// What closing pages may take.
const PAGE_END: Duration = Duration::from_secs(5);
/// How often it is looked which workspaces are to be measured.
const MEASURE: Duration = Duration::from_secs(1);
/// One that cannot be measured is told this often at most.
const TOLD: Duration = Duration::from_secs(10 * 60);
/// How many are measured at once, and how many of one tenant.
const AT_ONCE: usize = 4;
const AT_ONCE_OF_TENANT: usize = 2;

/// The tasks of a host; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Background(Vec<AbortHandle>);

impl Background {
    pub(crate) fn start(backends: &Backends) -> Self {
        let mut tasks = vec![tokio::spawn(sweep_state(Arc::clone(&backends.state))).abort_handle()];
        tasks.push(tokio::spawn(sweep_terminals(backends.terminals.clone(), backends.streams.clone())).abort_handle());
        if let Ok(webviews) = &backends.webviews {
            tasks.push(tokio::spawn(sweep_pages(webviews.clone())).abort_handle());
        }
        if let Some(workspaces) = &backends.workspaces {
            let inhabitants = Inhabitants::of(backends);
            let time = backends.state.host_time();
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
    let pace = terminals.as_ref().map_or(TERMINAL_SWEEP, |terminals| terminals.sweep_interval());
    let mut ticks = tokio::time::interval(pace);
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
    fn of(backends: &Backends) -> Self {
        Self {
            processes: backends.processes.clone(),
            terminals: backends.terminals.clone(),
            webviews: backends.webviews.as_ref().ok().cloned(),
        }
    }

    /// Ends all that runs in a workspace that holds too much.
    async fn end(&self, key: &WorkspaceKey, full: &QuotaFull) -> usize {
        let mut ended = 0;
        if let Some(processes) = &self.processes {
            ended += processes.end_session(&key.tenant, &key.session, KilledBy::Quota).await;
        }
        if let Some(terminals) = &self.terminals {
            ended += terminals.end_session(&key.tenant, &key.session, full).await;
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
        remove_expired(&workspaces, &inhabitants, &time).await;
        // What an earlier host, or another one, has left counts as well.
        let counting = Arc::clone(&workspaces);
        match spawn_blocking(move || counting.count()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("workspaces cannot be counted: {error}"),
            // A host that ends cancels what has not begun.
            Err(error) if error.is_cancelled() => return,
            Err(error) => tracing::error!("workspaces were not counted: {error}"),
        }
    }
}

async fn remove_expired(workspaces: &Arc<Workspaces>, inhabitants: &Inhabitants, time: &HostTime) {
    if let Some(processes) = &inhabitants.processes {
        let swept = processes.sweep(time.passed().into()).await;
        tracing::debug!(?swept, "ended processes removed");
    }
    let (sweeping, now) = (Arc::clone(workspaces), time.passed());
    match spawn_blocking(move || sweeping.sweep(now)).await {
        Ok(Ok(0)) => {}
        Ok(Ok(swept)) => tracing::info!(swept, "workspaces that nobody used were removed"),
        Ok(Err(error)) => tracing::warn!("idle workspaces cannot be removed: {error}"),
        Err(error) if error.is_cancelled() => {}
        Err(error) => tracing::error!("idle workspaces were not looked for: {error}"),
    }
}

/// What is to be measured, and what is being measured.
#[derive(Default)]
struct MeasureQueue {
    queue: VecDeque<(Option<WorkspaceKey>, Arc<Volume>)>,
    /// By where the volume is in memory.
    running: HashMap<usize, Option<TenantId>>,
    tasks: JoinSet<(usize, Option<String>)>,
    /// What could not be measured, and when that was told.
    told: HashMap<usize, Instant>,
}

impl MeasureQueue {
    /// The next that may begin: a tenant with many large workspaces delays nobody else's.
    fn next(&mut self) -> Option<(usize, Option<WorkspaceKey>, Arc<Volume>)> {
        if self.running.len() >= AT_ONCE {
            return None;
        }
        let may_begin = |(key, volume): &(Option<WorkspaceKey>, Arc<Volume>)| {
            let tenant = key.as_ref().map(|key| &key.tenant);
            let of_tenant = self.running.values().filter(|running| running.as_ref() == tenant).count();
            of_tenant < AT_ONCE_OF_TENANT && !self.running.contains_key(&place_of(volume))
        };
        let (key, volume) = self.queue.iter().position(may_begin).and_then(|next| self.queue.remove(next))?;
        let place = place_of(&volume);
        self.running.insert(place, key.as_ref().map(|key| key.tenant.clone()));
        Some((place, key, volume))
    }
}

impl MeasureQueue {
    /// One was measured, or could not be, which is told once and then seldom.
    fn done(&mut self, place: usize, failure: Option<String>) {
        self.running.remove(&place);
        let Some(failure) = failure else {
            self.told.remove(&place);
            return;
        };
        self.told.retain(|_, told| told.elapsed() < TOLD);
        if let Entry::Vacant(new) = self.told.entry(place) {
            new.insert(Instant::now());
            tracing::warn!("{failure}; this is told once, and every ten minutes where it lasts");
        }
    }
}

fn place_of(volume: &Arc<Volume>) -> usize {
    Arc::as_ptr(volume).addr()
}

/// Measures the workspaces in which something happens, and ends what runs in
/// those that hold too much.
async fn keep_quotas(workspaces: Arc<Workspaces>, inhabitants: Inhabitants) {
    let mut ticks = tokio::time::interval(MEASURE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut measuring = MeasureQueue::default();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                let looking = Arc::clone(&workspaces);
                match spawn_blocking(move || looking.due()).await {
                    Ok(due) => measuring.queue = due.into(),
                    Err(error) if error.is_cancelled() => return,
                    Err(error) => tracing::error!("workspaces are not measured: {error}"),
                }
            }
            Some(done) = measuring.tasks.join_next() => match done {
                Ok((place, failure)) => measuring.done(place, failure),
                // Which one it was is not known any more.
                Err(_) => measuring.running.clear(),
            },
        }
        while let Some((place, key, volume)) = measuring.next() {
            let inhabitants = inhabitants.clone();
            measuring.tasks.spawn(async move { (place, keep_quota(key, volume, inhabitants).await) });
        }
    }
}

/// Measures one, and ends what runs there where it holds too much. Why it could not be
/// measured, where it was not.
async fn keep_quota(key: Option<WorkspaceKey>, volume: Arc<Volume>, inhabitants: Inhabitants) -> Option<String> {
    let measured = spawn_blocking(move || volume.measure()).await;
    let session = key.as_ref().map(|key| key.session.as_str());
    match measured {
        Ok(Ok(measured)) => {
            if let (Some(key), Some(full)) = (&key, measured.excess.filter(|_| measured.must_end())) {
                let ended = inhabitants.end(key, &full).await;
                if ended > 0 {
                    tracing::warn!(session, ended, "what ran in a workspace was ended: {full}");
                }
            }
            None
        }
        Ok(Err(error)) => Some(format!("{} cannot be measured: {error}", described(key.as_ref()))),
        Err(error) => Some(format!("{} was not measured: {error}", described(key.as_ref()))),
    }
}

fn described(key: Option<&WorkspaceKey>) -> String {
    key.map_or_else(
        || "an exchange folder".to_owned(),
        |key| format!("the workspace of session {} of tenant {}", key.session, key.tenant),
    )
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::SystemTime};

    use wharf_core::{Context, Grants, ProcessGrant, ProcessLimits, SessionId};
    use wharf_process::{ChildLimits, Containment, SpawnRequest, WaitCondition};
    use wharf_state::{Ceilings, Clock, ManualClock, MemoryStore};
    use wharf_test_support::AMPLE;
    use wharf_workspace::WorkspaceOptions;

    use super::*;
    use crate::{backends, configuration::Configuration};

    fn ends_at_once() -> SpawnRequest {
        SpawnRequest {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "exit 0".into()],
            environment: Vec::new(),
            directory: "/".into(),
            command: "exit 0".into(),
            input: false,
            lifetime: None,
            silence: None,
            limits: ChildLimits::default(),
            containment: Containment::None,
            user: None,
            stay: None,
        }
    }

    #[tokio::test]
    async fn a_clock_that_is_set_while_a_host_runs_removes_no_process_and_no_workspace() {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
        let (directory, start) = (tempfile::tempdir().expect("a directory"), SystemTime::now());
        let clock = Arc::new(ManualClock::starting_at(start));
        let state = Arc::new(MemoryStore::new(Ceilings::default(), Arc::clone(&clock) as Arc<dyn Clock>));
        let text = "[workspace]\nexpiry_seconds = 86400\n[process.limits]\ntombstone_seconds = 86400";
        let configuration = Configuration::parse(text, Path::new("/")).expect("legal");
        let stored = (directory.path(), &wharf_encryption::AtRest::in_clear());
        let backends = backends::open(&configuration, state, Some(stored), backends::BroughtBackends::default(), true)
            .expect("opened")
            .backends;
        let (processes, workspaces) =
            (backends.processes.clone().expect("opened"), backends.workspaces.clone().expect("one"));
        let (inhabitants, time) = (Inhabitants::of(&backends), backends.state.host_time());

        // Both are used while the clock is far behind.
        clock.set(SystemTime::UNIX_EPOCH + YEAR);
        let context = Context::new(TenantId::local(), SessionId::default_session());
        let grants = Grants { process: Some(ProcessGrant::with_reason("a test")), ..Grants::default() };
        let owner = grants.process(&"p".parse().expect("legal")).expect("granted").owner(&context);
        let id = processes.spawn(&owner, ends_at_once(), 1).await.expect("a process");
        processes
            .wait(&owner, id, &WaitCondition { exit: true, ..WaitCondition::default() }, AMPLE)
            .await
            .expect("ends");
        let key = WorkspaceKey::restored(context.tenant.clone(), context.session.clone());
        workspaces.create(&key).expect("made");
        let kept = async || {
            remove_expired(&workspaces, &inhabitants, &time).await;
            (processes.snapshot(&owner, id).await.is_ok(), workspaces.list().expect("listed").workspaces.len())
        };
        assert_eq!(kept().await, (true, 1), "while it is behind");
        clock.set(start);
        assert_eq!(kept().await, (true, 1), "once it is right again");
        clock.set(start + 5 * YEAR);
        assert_eq!(kept().await, (true, 1), "while it is far ahead");
        clock.set(start);
        clock.advance(Duration::from_secs(2 * 86_400));
        assert_eq!(kept().await, (false, 0), "two days later");
        processes.shut_down(Duration::ZERO).await;
    }

    #[test]
    fn what_cannot_be_measured_is_told_once_and_again_after_it_could() {
        let mut measuring = MeasureQueue::default();
        for _ in 0..3 {
            measuring.done(1, Some("broken".to_owned()));
        }
        let first = measuring.told[&1];
        measuring.done(1, Some("broken".to_owned()));
        assert_eq!(measuring.told[&1], first, "it was told once");
        measuring.done(1, None);
        assert!(measuring.told.is_empty());
    }

    #[test]
    fn a_tenant_with_many_workspaces_to_measure_delays_nobody_elses() {
        let directory = tempfile::tempdir().expect("a directory");
        let workspaces = Workspaces::new(directory.path(), WorkspaceOptions::new(&ProcessLimits::default(), None));
        let of = |tenant: &str, session: usize| {
            let session = format!("s{session}").parse().expect("legal");
            let key = WorkspaceKey::restored(tenant.parse().expect("legal"), session);
            workspaces.create(&key).expect("made");
            (Some(key.clone()), workspaces.volume(&key).expect("is there"))
        };
        let queue = (0..10).map(|session| of("many", session)).chain([of("few", 0)]).collect();
        let mut measuring = MeasureQueue { queue, ..MeasureQueue::default() };
        let mut tenants = Vec::new();
        while let Some((_, key, _)) = measuring.next() {
            tenants.push(key.expect("of a session").tenant.to_string());
        }
        assert_eq!(tenants, ["many", "many", "few"]);
        assert_eq!(measuring.queue.len(), 8);
    }
}
