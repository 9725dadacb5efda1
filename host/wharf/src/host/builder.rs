//! What a host is made of: the parts that an app says before it is opened.

use std::{path::PathBuf, sync::Arc};

use wharf_core::{AuditSink, SpanSink};
use wharf_network::ServerStandIns;
use wharf_spawn::StandIns;
use wharf_state::StateStore;
use wharf_webview::WebViewBackend;

use crate::{backends::BroughtBackends, configuration::Configuration, loading::Uncompiled};

/// A host that is about to be opened: see [`Host::builder`](crate::Host::builder).
#[must_use = "a host is opened by `open`"]
pub struct HostBuilder {
    pub(super) configuration: Configuration,
    pub(super) data: Option<PathBuf>,
    pub(super) compiled: Option<PathBuf>,
    pub(super) functions: Option<PathBuf>,
    pub(super) state: Option<Arc<dyn StateStore>>,
    pub(super) brought: BroughtBackends,
    pub(super) audit: Option<Arc<dyn AuditSink>>,
    pub(super) traces: Option<Arc<dyn SpanSink>>,
    pub(super) fixed_grants: bool,
    pub(super) uncompiled: Uncompiled,
    pub(super) joins_cluster: bool,
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HostBuilder").field("data", &self.data).finish_non_exhaustive()
    }
}

impl HostBuilder {
    /// By parts, of which none is said yet.
    pub(super) fn new(configuration: Configuration) -> Self {
        Self {
            configuration,
            data: None,
            compiled: None,
            functions: None,
            state: None,
            brought: BroughtBackends::default(),
            audit: None,
            traces: None,
            fixed_grants: false,
            uncompiled: Uncompiled::Compile,
            joins_cluster: false,
        }
    }

    /// Keeps data in this directory, which several hosts may share: state, unless
    /// [`HostBuilder::state`] is said, compiled code, and the files of sessions.
    /// Without a directory there are no files, processes and terminals.
    pub fn data(self, data: impl Into<PathBuf>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    /// Keeps compiled code in this directory instead of `cache` below the data directory. Hosts
    /// may share it.
    pub fn compiled_code(self, directory: impl Into<PathBuf>) -> Self {
        Self { compiled: Some(directory.into()), ..self }
    }

    /// Keeps what the functions of large components were compiled to in this directory, up to 128 MiB. A
    /// component that shares most functions with one before, as those of an interpreted language do, is
    /// then compiled in a third of the time. For the author of the plugins: what compiles one component may
    /// leave functions to the next one.
    pub fn compiled_functions(self, directory: impl Into<PathBuf>) -> Self {
        Self { functions: Some(directory.into()), ..self }
    }

    /// Keeps state in a store of the app's own. Where neither this nor a directory is
    /// said, state is kept in memory.
    pub fn state(self, state: Arc<dyn StateStore>) -> Self {
        Self { state: Some(state), ..self }
    }

    /// Runs web pages in the WebViews of the app instead of a browser of the host's.
    /// Plugins reach them where `[plugin.NAME.grants.webview]` says so, within the
    /// limits of `[webview.limits]`.
    pub fn webview_backend(mut self, backend: Arc<dyn WebViewBackend>) -> Self {
        self.brought.webviews = Some(backend);
        self
    }

    /// Has other programs play the part of those that plugins start, as a test of a plugin
    /// wants it; see [`stand_in`](crate::stand_in). Grants, limits and containment stay.
    pub fn program_stand_ins(mut self, stand_ins: Arc<dyn StandIns>) -> Self {
        self.brought.stand_ins = Some(stand_ins);
        self
    }

    /// Has requests of plugins answered without their servers, as a test of a plugin wants
    /// it; see [`stand_in`](crate::stand_in). Grants and limits stay. Requests of pages and
    /// programs are not among them.
    pub fn server_stand_ins(mut self, stand_ins: Arc<dyn ServerStandIns>) -> Self {
        self.brought.servers = Some(stand_ins);
        self
    }

    /// Tells the app what happens, instead of files below the data directory; see
    /// [`audit`](crate::audit). `[audit]` does not matter then.
    pub fn audit(self, sink: Arc<dyn AuditSink>) -> Self {
        Self { audit: Some(sink), ..self }
    }

    /// Hands spans to the app instead of sending them to a collector; see
    /// [`trace`](crate::trace). Of `[traces]`, what is kept still matters then.
    pub fn traces(self, sink: Arc<dyn SpanSink>) -> Self {
        Self { traces: Some(sink), ..self }
    }

    /// Says that no plugin comes and no grant changes while this host is open, as for one
    /// call of a command line. It then opens no room that nobody may use: a plugin that is
    /// granted processes, terminals or web pages later finds none.
    pub fn fixed_grants(self) -> Self {
        Self { fixed_grants: true, ..self }
    }

    /// Opens without waiting for a compiler, for servers whose clients wait for an answer: a
    /// plugin of which no host with the same data directory has kept anything is compiled
    /// while the host serves, side by side with few others. It is listed as
    /// [`PluginState::Compiling`](crate::PluginState::Compiling) until then; its tools appear as
    /// those of a plugin that was added, and a call of one waits for it, as long as a call of
    /// that plugin may take.
    ///
    /// Without it, [`HostBuilder::open`] returns once every plugin is loaded, which is what
    /// an app wants that calls one at once.
    pub fn compile_in_background(self) -> Self {
        Self { uncompiled: Uncompiled::List, ..self }
    }

    /// Joins the cluster that `[cluster]` names, where it names one, as one of its hosts: it takes
    /// calls of the others from then on. Without it, such a configuration gives a host that
    /// refuses calls of tools which keep something on the host of their session.
    pub fn join_cluster(self) -> Self {
        Self { joins_cluster: true, ..self }
    }
}
