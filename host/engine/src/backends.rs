//! The backends that calls reach through adapters.

use std::sync::Arc;

use tokio::task::spawn_blocking;
use wharf_completion::Streams;
use wharf_core::{Code, Error, RequestLimits, StreamLimits, WorkspaceKey, service::Announcements};
use wharf_network::RequestClient;
use wharf_process::Processes;
use wharf_spawn::Spawner;
use wharf_state::StateStore;
use wharf_terminal::Terminals;
use wharf_webview::WebViews;
use wharf_workspace::{Workspace, Workspaces};

/// The backends that adapters ask. Where one is absent, its adapter answers `unavailable`,
/// also to a plugin that is granted it.
#[derive(Clone)]
pub struct Backends {
    /// Durable entries.
    pub state: Arc<dyn StateStore>,
    /// Child processes.
    pub processes: Option<Arc<Processes>>,
    /// Interactive programs.
    pub terminals: Option<Arc<Terminals>>,
    /// Web pages, or why there are none.
    pub webviews: Result<WebViews, NoWebViews>,
    /// Streams of events.
    pub streams: Streams,
    /// Hears that the lists or resources of a plugin have changed.
    pub announcements: Announcements,
    /// HTTP requests.
    pub requests: RequestClient,
    /// Files of sessions.
    pub workspaces: Option<Arc<Workspaces>>,
    /// What starts the children that compile.
    pub spawner: Spawner,
}

/// Why a host has no web pages, in words for an operator and for the plugin that asks for one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoWebViews(pub Arc<str>);

impl From<&NoWebViews> for Error {
    fn from(missing: &NoWebViews) -> Self {
        Self::new(Code::Unavailable, missing.to_string())
    }
}

impl Backends {
    /// State and nothing else.
    #[must_use]
    pub fn with_state(state: Arc<dyn StateStore>) -> Self {
        Self {
            state,
            processes: None,
            terminals: None,
            webviews: Err(NoWebViews("this host was opened without web pages".into())),
            streams: Streams::new(StreamLimits::default()),
            announcements: Announcements::default(),
            requests: RequestClient::new(RequestLimits::default()),
            workspaces: None,
            spawner: Spawner::new(),
        }
    }

    /// The workspace of a session for a program to run in; made where there is none.
    ///
    /// # Errors
    /// `limit` where it is full, or there are as many as there may be; `unavailable` where
    /// this host keeps none, or the disk refuses.
    pub async fn workspace_to_run(&self, key: WorkspaceKey) -> Result<Workspace, Error> {
        let workspaces = Arc::clone(self.workspaces()?);
        let found = spawn_blocking(move || workspaces.create_to_run(&key)).await;
        Ok(found.map_err(|error| Error::new(Code::Internal, error.to_string()))??)
    }

    pub(crate) fn processes(&self) -> Result<&Arc<Processes>, Error> {
        self.processes.as_ref().ok_or_else(|| absent("processes"))
    }

    pub(crate) fn terminals(&self) -> Result<&Arc<Terminals>, Error> {
        self.terminals.as_ref().ok_or_else(|| absent("terminals"))
    }

    pub(crate) fn webviews(&self) -> Result<&WebViews, Error> {
        self.webviews.as_ref().map_err(Error::from)
    }

    pub(crate) fn workspaces(&self) -> Result<&Arc<Workspaces>, Error> {
        self.workspaces.as_ref().ok_or_else(|| absent("workspaces"))
    }
}

fn absent(what: &str) -> Error {
    let message = format!("this host keeps no {what}: it has no data directory that it can write");
    Error { retryable: false, ..Error::new(Code::Unavailable, message) }
}
