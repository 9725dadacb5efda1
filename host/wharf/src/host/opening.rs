//! Opening a host of its parts.

use std::{path::Path, sync::Arc, time::Duration};

use chrono::Utc;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;
use wharf_core::{Admission, CallLimits, Code, RequestMemory, Tracer, audit::AuditOutcome, grant::Denials};
use wharf_engine::{Engine, EngineConfig};
use wharf_state::{MemoryStore, SqliteOptions, SqliteStore, StateStore};

use super::{Host, Shared, builder::HostBuilder, compiling::Compilations, open_error::OpenError};
use crate::{
    approvals::Approvals,
    backends::{self, BroughtBackends, OpenedBackends},
    background::Background,
    checking::Checks,
    clustered::Clustered,
    collector,
    configuration::{AuditSyslog, Configuration, Durability},
    encryption::{self, OpenedKeys},
    front_ends::FrontEnds,
    paths,
    plugin_sources::PluginSources,
    recorder::{Recorder, audit_directory},
    registry::Registry,
    running_calls::RunningCalls,
};

impl HostBuilder {
    /// Opens it. A plugin that cannot be loaded is listed by [`Host::rejected`] and
    /// does not keep the host from opening.
    ///
    /// Needs a tokio runtime with time; background work runs on it.
    ///
    /// # Errors
    /// Where the state cannot be opened, or a secret of the collector of spans is not
    /// there. A cache of compiled code that cannot be used is no error: the log says so.
    pub async fn open(self) -> Result<Host, OpenError> {
        let Self { mut configuration, data, compiled, functions, state, .. } = self;
        let Self { brought, audit, traces, fixed_grants, uncompiled, joins_cluster, .. } = self;
        // Processes and terminals run in other directories than this one.
        let data = data.as_deref().map(paths::absolute).transpose()?;
        let keys = match &data {
            Some(data) => {
                let (configuration, data) = (configuration.clone(), data.clone());
                Some(waiting(move || encryption::open(&configuration, &data)).await??)
            }
            None => None,
        };
        let state = match state {
            Some(state) => state,
            None => open_state(&configuration, keys.as_ref()).await?,
        };
        let clustered = Clustered::open(&configuration, data.as_deref(), joins_cluster).await?;
        let brought = BroughtBackends { handles: clustered.handles(), ..brought };
        // Clones of a configuration may be those of several hosts.
        let denials = Denials::default();
        configuration.denials = denials.clone();
        let limits = configuration.host_limits.clone();
        let config = EngineConfig {
            limits: limits.clone(),
            // Plugins are asked for their lists by the default limits.
            table_elements: configuration.call_ceilings.table_elements.max(CallLimits::default().table_elements),
            cache_directory: compiled.or_else(|| data.as_ref().map(|data| data.join("cache"))),
            functions_directory: functions,
            isolation: configuration.isolation.clone(),
        };
        let own_grants = Arc::new(configuration.host_grants());
        let app_limits = Arc::new(configuration.call_limits.clone());
        let number = fastrand::u64(..);
        let traces = match traces {
            Some(traces) => Some(traces),
            None => {
                let settings = configuration.traces.clone();
                waiting(move || collector::open(&settings, number)).await??
            }
        };
        let tracer = traces.map(|sink| Tracer::new(sink, configuration.traces.sampling));
        let audit_lines =
            data.as_deref().filter(|_| audit.is_none() && configuration.audit.enabled).map(audit_directory);
        let signer = configuration.audit.signer()?;
        let copies = configuration.audit.syslog.as_ref().filter(|_| audit_lines.is_some());
        let copies = copies.map(AuditSyslog::start).transpose()?.map(Arc::new);
        let recorder = Recorder::open(
            number,
            (&configuration.audit, signer, copies),
            data.as_deref(),
            audit,
            tracer,
            state.host_time(),
        );
        let opening = tokio::task::spawn_blocking(move || {
            let sources = PluginSources::new(configuration, data.as_deref());
            sources.take_cluster().map_err(OpenError::Tables)?;
            let configuration = sources.configuration();
            let runs_programs =
                data.is_some() && (configuration.grants_processes() || configuration.grants_terminals());
            let stored = data.as_deref().zip(keys.as_ref().map(|keys| &keys.at_rest));
            let OpenedBackends { backends, staging } =
                backends::open(&configuration, state, stored, brought, !fixed_grants)?;
            let engine = Engine::new(config, backends.clone());
            // A command that is over in a moment starts what it needs.
            if !fixed_grants && let Err(error) = engine.start_workers() {
                tracing::warn!(%error, "no process for plugins is started ahead");
            }
            let schemas = configuration.output_schemas;
            let plugins = sources.load_at_start(&engine, uncompiled);
            if let Some(problem) = &plugins.misspelt {
                return Err(OpenError::Misspelt(problem.clone()));
            }
            let registry = Registry::new(plugins, schemas);
            Ok::<_, OpenError>((registry, sources, runs_programs, engine, backends, staging))
        });
        let opened = opening.await.map_err(|_| OpenError::Interrupted)??;
        let (registry, sources, runs_programs, engine, backends, staging) = opened;
        // A command that is over in a moment tells its user, and leaves the audit alone.
        for rejected in registry.rejected().iter().filter(|_| !fixed_grants) {
            let (subject, failed) = ((rejected.name.clone(), None, None), AuditOutcome::Failed(Code::Invalid));
            recorder.change("rejected", subject, (Some(rejected.shown()), None), failed, Duration::ZERO);
        }
        let background = Background::start(&backends);
        let checks = Checks::new(&limits);
        let front_ends = FrontEnds::new(
            limits.clone(),
            Arc::clone(&app_limits),
            backends.announcements.clone(),
            Arc::clone(&recorder),
            checks.clone(),
            clustered.handles(),
        );
        let shared = Shared {
            registry: RwLock::new(Arc::new(registry)),
            changing: Mutex::default(),
            changed: watch::Sender::default(),
            compilations: Compilations::default(),
            engine,
            sources,
            app_limits,
            admission: Admission::new(limits.clone()),
            approvals: Approvals::new(&limits),
            running_calls: RunningCalls::default(),
            opened: Utc::now(),
            audit_lines,
            checks,
            request_memory: RequestMemory::new(&limits),
            wait: limits.wait(),
            listing: limits.listing(),
            backends,
            recorder,
            own_grants,
            denials,
            front_ends,
            clustered,
            console: Mutex::default(),
            configuring: Mutex::default(),
            control: Mutex::default(),
            runs_programs,
            _background: background,
            _staging: staging,
        };
        let host = Host { shared: Arc::new(shared) };
        host.compile_what_is_listed();
        #[cfg(feature = "postgres")]
        {
            let Shared { clustered, front_ends, backends, .. } = &*host.shared;
            if let Some(shelf) = clustered.front_end_shelf() {
                front_ends.share(shelf);
            }
            clustered.join(host.downgrade(), host.serve_added(), &backends.announcements).await?;
        }
        Ok(host)
    }
}

#[cfg(feature = "postgres")]
impl Host {
    /// Serves what the data directory has by now, as long as this host is open.
    fn serve_added(&self) -> crate::cluster::ServeAdded {
        let host = self.downgrade();
        Box::new(move || {
            let host = host.upgrade();
            Box::pin(async move {
                if let Some(host) = host {
                    host.look_at_added().await;
                }
            })
        })
    }
}

/// Has a thread of its own do what may wait for files, and for a program that prints a secret.
async fn waiting<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> Result<T, OpenError> {
    tokio::task::spawn_blocking(what).await.map_err(|_| OpenError::Interrupted)
}

/// The store that the configuration asks for; in memory where it names no database and there
/// is no data directory.
async fn open_state(
    configuration: &Configuration,
    keys: Option<&OpenedKeys>,
) -> Result<Arc<dyn StateStore>, OpenError> {
    #[cfg(feature = "postgres")]
    if let Some(store) = crate::database::open_store(configuration).await? {
        return Ok(Arc::new(store));
    }
    Ok(match keys {
        Some(keys) => Arc::new(SqliteStore::open(keys.state.clone(), sqlite_options(configuration))?),
        None => Arc::new(MemoryStore::default()),
    })
}

fn sqlite_options(configuration: &Configuration) -> SqliteOptions {
    SqliteOptions {
        ceilings: (&configuration.host_limits).into(),
        durability: match configuration.state.durability {
            Durability::Process => wharf_state::Durability::Process,
            Durability::Power => wharf_state::Durability::Power,
        },
        ..SqliteOptions::default()
    }
}

impl Host {
    /// A host that is about to be opened, by parts. Hosts have nothing of each other,
    /// and any number of them may be in one process.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use wharf::{Configuration, Host, TenantId, ToolService, Viewer};
    ///
    /// // What the operator would write into `wharf.toml`; here, no bundled plugin.
    /// let off: String = wharf::bundled_names().map(|name| format!("[plugin.{name}]\nenabled = false\n")).collect();
    /// let configuration = Configuration::parse(&off, ".".as_ref())?;
    /// let host = Host::builder(configuration).open().await?; // Keeps its state in memory.
    /// assert!(host.tools(Viewer::of_tenant(&TenantId::local())).is_empty());
    /// host.shut_down(Duration::from_secs(1)).await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(configuration: Configuration) -> HostBuilder {
        HostBuilder::new(configuration)
    }

    /// Opens a host that keeps its data in `data`. Several hosts may share one
    /// directory. A plugin that cannot be loaded is listed by
    /// [`Host::rejected`] and does not keep the host from opening.
    ///
    /// Needs a tokio runtime with time; background work runs on it.
    ///
    /// # Errors
    /// Where the state cannot be opened.
    pub async fn open(configuration: Configuration, data: &Path) -> Result<Self, OpenError> {
        Self::builder(configuration).data(data).open().await
    }

    /// Opens a host on a store of the embedder's. Compiled code is kept under
    /// `data`, where there is one.
    ///
    /// # Errors
    /// As for [`Host::open`].
    pub async fn open_with(
        configuration: Configuration,
        state: Arc<dyn StateStore>,
        data: Option<&Path>,
    ) -> Result<Self, OpenError> {
        let builder = Self::builder(configuration).state(state);
        match data {
            Some(data) => builder.data(data).open().await,
            None => builder.open().await,
        }
    }
}
