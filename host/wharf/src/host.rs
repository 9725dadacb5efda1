//! The host: what it hands out, what it says of itself, and its end. Opening it,
//! calls and the app's own tools are in files of their own.

mod approving;
mod apps;
pub(crate) mod builder;
mod calling;
mod compiling;
mod front_ends;
mod homes;
mod offering;
pub(crate) mod open_error;
pub(crate) mod opening;
mod operated;
#[cfg(feature = "postgres")]
mod peers;
pub(crate) mod plugins;
#[cfg(feature = "postgres")]
mod proposed;
mod recording;
pub(crate) mod watching;

use std::{
    collections::BTreeMap,
    mem,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;
use wharf_completion::{
    Streams, TerminalService,
    detection::Parameters,
    stream::{OpenStream, StreamWriter, Turns},
};
use wharf_core::text::with_causes;
use wharf_core::{
    Admission, AuditSink as _, CallLimits, Context, Error, Grants, PluginName, RequestMemory, StreamOwner,
    WebPageService,
    grant::{Capability, Denials},
    service::operator::ConfigurationService,
};
use wharf_engine::{Backends, Engine, NoWebViews};
use wharf_process::{Processes, polls::PollTotals};
use wharf_spawn::{MissingAbility, SandboxMechanism, SpawnError, Spawner};
use wharf_state::StateStore;
use wharf_terminal::Terminals;

use crate::{
    approvals::Approvals,
    background::Background,
    checking::Checks,
    clustered::Clustered,
    front_ends::FrontEnds,
    installed::{Installed, Off, Rejected},
    metrics::MetricSources,
    pages::HostPages,
    plugin_sources::PluginSources,
    recorder::Recorder,
    registry::Registry,
    running_calls::RunningCalls,
    terminals::HostTerminals,
    webviews::Staging,
};

use compiling::Compilations;
pub(crate) use operated::MakeLink;

/// Why nothing is known to contain the processes of a host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoContainment {
    /// Nothing here contains a process: what is missing.
    #[error("{0}")]
    Missing(MissingAbility),
    /// It cannot be tried.
    #[error("{}", with_causes(.0))]
    Untried(SpawnError),
}

/// Plugins, tools of the app's own, their state and their calls. Cheap to clone;
/// the last clone that is dropped ends the background work.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

/// A reference to a host that does not keep it open.
#[derive(Clone)]
pub(crate) struct WeakHost(Weak<Shared>);

impl WeakHost {
    pub(crate) fn upgrade(&self) -> Option<Host> {
        self.0.upgrade().map(|shared| Host { shared })
    }
}

/// How long a browser that is not needed any more may take to end.
const END: Duration = Duration::from_secs(5);

/// How long the last spans may take. Clients kill a server that does not leave within
/// two seconds.
const LAST_SPANS: Duration = Duration::from_secs(1);

struct Shared {
    // Read for a pointer copy at each call, written when plugins change.
    registry: RwLock<Arc<Registry>>,
    // Held while the next registry is made out of the present one.
    changing: Mutex<()>,
    /// Hears of each registry that takes the place of another.
    changed: watch::Sender<()>,
    compilations: Compilations,
    engine: Engine,
    sources: PluginSources,
    app_limits: Arc<CallLimits>,
    admission: Admission,
    approvals: Approvals,
    running_calls: RunningCalls,
    opened: DateTime<Utc>,
    /// Where the lines of its audit are, where they are in files.
    audit_lines: Option<PathBuf>,
    checks: Checks,
    request_memory: RequestMemory,
    wait: Duration,
    listing: Duration,
    backends: Backends,
    recorder: Arc<Recorder>,
    own_grants: Arc<Grants>,
    denials: Denials,
    front_ends: Arc<FrontEnds>,
    clustered: Clustered,
    /// Makes links to the console, where it is served.
    // Held to make one.
    console: Mutex<Option<MakeLink>>,
    /// Changes its configuration for its operator, where the app lets it.
    configuring: Mutex<Option<Arc<dyn ConfigurationService>>>,
    /// Where commands reach it, where they do.
    control: Mutex<Option<PathBuf>>,
    /// Whether somebody might run programs when the host was opened.
    runs_programs: bool,
    _background: Background,
    _staging: Option<Staging>,
}

impl Drop for Shared {
    /// An app that goes on without its host keeps none of its processes.
    fn drop(&mut self) {
        self.front_ends.end_all();
        // Those that calls still hold end with the process.
        self.backends.terminals.take();
        let gone = NoWebViews("the host is gone".into());
        if let Ok(webviews) = mem::replace(&mut self.backends.webviews, Err(gone))
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { webviews.shut_down(END).await });
        }
        let Some(processes) = self.backends.processes.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && !processes.running_sessions().is_empty()
        {
            runtime.spawn(async move { processes.shut_down(Duration::ZERO).await });
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Host").field("registry", &self.registry()).finish_non_exhaustive()
    }
}

impl Host {
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.shared.registry.read())
    }

    /// The plugins that can be called, by name.
    #[must_use]
    pub fn installed(&self) -> Vec<Installed> {
        self.registry().installed().to_vec()
    }

    /// The plugins that could not be loaded, and why.
    #[must_use]
    pub fn rejected(&self) -> Vec<Rejected> {
        self.registry().rejected().to_vec()
    }

    /// The plugins that are being compiled, or wait for that; see
    /// [`HostBuilder::compile_in_background`](crate::HostBuilder::compile_in_background).
    #[must_use]
    pub fn compiling(&self) -> Vec<PluginName> {
        self.registry().plugins().compiling.iter().map(|compiling| compiling.name.clone()).collect()
    }

    /// The bundled plugins that are off: they can do nothing with what they are
    /// granted.
    #[must_use]
    pub fn off(&self) -> Vec<Off> {
        self.registry().off().to_vec()
    }

    /// How many calls run and how many wait for their turn.
    #[must_use]
    pub fn load(&self) -> (u64, u64) {
        self.shared.admission.load()
    }

    /// Starts a process for plugins as a call would, and ends it; does nothing where plugins run in this one.
    ///
    /// # Errors
    /// Where none can be had: what the system, or the process itself, said of it.
    pub async fn try_worker(&self) -> Result<(), Error> {
        self.shared.engine.try_worker().await
    }

    /// Metrics of this host, as OpenMetrics text for Prometheus: calls, denials,
    /// what runs, and memory. No tenant, session or argument is in it.
    #[must_use]
    pub fn metrics(&self) -> String {
        let Shared { recorder, admission, backends, .. } = &*self.shared;
        let workers = self.shared.engine.workers();
        MetricSources { recorder, admission, backends, plugins: &self.registry(), workers }.text()
    }

    /// How often each plugin was denied a capability, or a use of it, since this
    /// host was opened.
    #[must_use]
    pub fn denials(&self) -> BTreeMap<(PluginName, Capability), u64> {
        self.shared.denials.counts()
    }

    /// The store that this host keeps state in.
    #[must_use]
    pub fn state(&self) -> &Arc<dyn StateStore> {
        &self.shared.backends.state
    }

    /// What starts this host's children: asks what the machine can contain.
    #[must_use]
    pub fn spawner(&self) -> &Spawner {
        &self.shared.backends.spawner
    }

    /// Why this host keeps no compiled code, though it has a data directory: it
    /// compiles its plugins at each start.
    #[must_use]
    pub fn cache_problem(&self) -> Option<&str> {
        self.shared.engine.cache_problem()
    }

    /// How many processes, terminals and web pages of this host start or run now.
    #[must_use]
    pub fn running(&self) -> usize {
        let counts = self.shared.backends.processes.as_ref().map(|processes| processes.counts());
        let terminals = self.shared.backends.terminals.as_ref().map_or(0, |terminals| terminals.metrics().open);
        let pages = self.shared.backends.webviews.as_ref().map_or(0, |webviews| webviews.metrics().open);
        let others = usize::try_from(terminals.saturating_add(pages)).unwrap_or(usize::MAX);
        counts.map_or(0, |counts| counts.starting + counts.running).saturating_add(others)
    }

    /// The totals of polls of processes and advice against them, where this host has processes.
    #[must_use]
    pub fn poll_totals(&self) -> Option<PollTotals> {
        self.shared.backends.processes.as_ref().map(|processes| processes.poll_totals())
    }

    /// What contains the processes and terminals of this host, tried once;
    /// nothing where no plugin might have any when the host was opened.
    ///
    /// # Errors
    /// See [`NoContainment`].
    pub async fn containment(&self) -> Option<Result<SandboxMechanism, NoContainment>> {
        if !self.shared.runs_programs {
            return None;
        }
        Some(match self.spawner().capabilities().await {
            Ok(capabilities) => capabilities.containment.clone().map_err(NoContainment::Missing),
            Err(error) => Err(NoContainment::Untried(error)),
        })
    }

    /// The streams of events of this host: those of terminals and plugins, and
    /// those that the app opens.
    #[must_use]
    pub fn streams(&self) -> &Streams {
        &self.shared.backends.streams
    }

    /// Opens a stream of events under a context, for readers over HTTP or from
    /// [`Host::streams`]. The app says what happens; when it is over is detected by
    /// these parameters, or told by [`StreamWriter::complete`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use wharf::{
    ///     Configuration, Context, Host, MemoryStore, TenantId,
    ///     completion::Preset,
    ///     stream::{EventKind, Message},
    /// };
    ///
    /// let host = Host::open_with(Configuration::default(), std::sync::Arc::new(MemoryStore::default()), None).await?;
    /// let context = Context::new(TenantId::local(), "my-session".parse()?);
    /// let stream = host.open_stream(&context, "an import", Preset::Agent.into())?;
    /// stream.progress("reading", Some(50.0))?;
    /// stream.message(Message { text: "12 rows", cursors: None })?;
    /// stream.complete()?;
    /// let read = host.streams().reader(&context, stream.id())?.read(1, 100, 64 << 10, Default::default()).await?;
    /// assert_eq!(read.events.last().map(|event| event.kind), Some(EventKind::Complete));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `limit` where as many are open as may be, `invalid` for parameters that
    /// contradict themselves.
    pub fn open_stream(&self, context: &Context, title: &str, parameters: Parameters) -> Result<StreamWriter, Error> {
        let request = OpenStream { title, turns: Turns::One(parameters), held_by: None };
        Ok(self.streams().open(StreamOwner::host(context), request)?)
    }

    /// The processes of this host, where it has any.
    pub(crate) fn processes(&self) -> Option<&Arc<Processes>> {
        self.shared.backends.processes.as_ref()
    }

    /// The terminals of this host, where it has any.
    pub(crate) fn terminals(&self) -> Option<&Arc<Terminals>> {
        self.shared.backends.terminals.as_ref()
    }

    pub(crate) fn downgrade(&self) -> WeakHost {
        WeakHost(Arc::downgrade(&self.shared))
    }

    /// The terminals of the host's own, for transports: what they open belongs
    /// to the plugin `host`, and needs [plugin.host.grants.terminal].
    #[must_use]
    pub fn terminal_service(&self) -> Arc<dyn TerminalService> {
        Arc::new(HostTerminals::new(self.shared.backends.clone(), Arc::clone(&self.shared.own_grants)))
    }

    /// The web pages of the host's own, for transports and the app: what they open
    /// belongs to the plugin `host` and to the context, and needs
    /// [plugin.host.grants.webview].
    ///
    /// A script is handed over and known by the id of its request, so nothing waits in
    /// the browser's way; its outcome is polled.
    #[must_use]
    pub fn web_pages(&self) -> Arc<dyn WebPageService> {
        Arc::new(HostPages::new(self.shared.backends.clone(), Arc::clone(&self.shared.own_grants)))
    }

    /// Ends every process that this host has started: each is asked to, and
    /// killed once `grace` is over; stops compiling, disconnects front ends, closes terminals and web pages, and ends the
    /// browser. What still runs when the host ends is
    /// killed then, and listed as lost by the next one. The last lines of audit are
    /// written before it returns, and the last spans sent, unless their collector takes
    /// longer than a second.
    pub async fn shut_down(&self, grace: Duration) {
        self.shared.front_ends.leave().await;
        let compilations = self.shared.compilations.end(grace.max(END));
        let Backends { processes, terminals, webviews, .. } = &self.shared.backends;
        let processes = async {
            if let Some(processes) = processes {
                processes.shut_down(grace).await;
            }
        };
        let terminals = async {
            if let Some(terminals) = terminals {
                terminals.close_all().await;
            }
        };
        let webviews = async {
            if let Ok(webviews) = webviews {
                webviews.shut_down(grace.max(END)).await;
            }
        };
        self.shared.clustered.stop();
        tokio::join!(processes, terminals, webviews, compilations);
        self.shared.clustered.leave().await;
        let recorder = Arc::clone(&self.shared.recorder);
        // The disk may take its time, and so may a collector.
        let lines = tokio::task::spawn_blocking(move || recorder.flush(END));
        if let Some(tracer) = self.shared.recorder.tracer.clone() {
            let _ = tokio::task::spawn_blocking(move || tracer.sink().flush(LAST_SPANS)).await;
        }
        let _ = lines.await;
    }

    /// Loads the code of every plugin now instead of at its first call.
    /// Returns at once; the work happens on a thread of its own.
    pub fn warm_up(&self) {
        let registry = self.registry();
        let warming = std::thread::Builder::new().name("wharf-warm-up".to_owned()).spawn(move || {
            for installed in registry.installed() {
                if let Err(error) = installed.plugin.prepare() {
                    tracing::warn!(plugin = %installed.plugin.name(), "cannot be prepared: {error}");
                }
            }
        });
        if let Err(error) = warming {
            tracing::warn!("plugins are loaded at their first call: {error}");
        }
    }
}
