//! Opens the rooms that calls reach.

use std::{path::Path, sync::Arc};

use wharf_core::Streams;
use wharf_engine::Rooms;
use wharf_network::Requests;
use wharf_process::Processes;
use wharf_spawn::Spawner;
use wharf_state::StateStore;
use wharf_terminal::{ShellIntegration, Terminals};
use wharf_webview::WebViewBackend;
use wharf_workspace::{Settings, Workspaces};

use crate::{
    configuration::{Configuration, process_room, terminal_room},
    host::OpenError,
    webviews::{self, Staging},
};

/// Where the files of sessions are, below the data directory.
const WORKSPACES: &str = "workspaces";
/// Where processes and their output are, below the data directory.
const PROCESSES: &str = "processes";
/// Where the files are that shells read, below the data directory.
const SHELLS: &str = "shells";

/// The workspaces of a data directory, for the operator.
#[must_use]
pub fn workspaces(configuration: &Configuration, data: &Path) -> Workspaces {
    let settings = Settings::new(&configuration.process_limits, configuration.workspace.expiry());
    Workspaces::new(&data.join(WORKSPACES), settings)
}

/// The rooms, and what has to live as long as they do.
pub(crate) struct Opened {
    pub(crate) rooms: Rooms,
    pub(crate) staging: Option<Staging>,
}

/// Opens what the configuration needs. Where nobody is granted processes there
/// is nothing to keep of them, and a start does without. `backend` is the app's own
/// for web pages.
pub(crate) fn open(
    configuration: &Configuration,
    state: Arc<dyn StateStore>,
    data: Option<&Path>,
    backend: Option<Arc<dyn WebViewBackend>>,
) -> Result<Opened, OpenError> {
    let mut rooms = Rooms::with_state(state);
    rooms.streams = Streams::new(configuration.stream_limits.clone());
    rooms.requests = Requests::new(configuration.request_limits.clone());
    let pages = configuration.grants_webviews().then(|| webviews::open(configuration, &rooms.spawner, backend));
    let staging = match pages {
        Some(Ok((webviews, staging))) => {
            rooms.webviews = Ok(webviews);
            staging
        }
        Some(Err(missing)) => {
            tracing::warn!(target: "wharf::start", "there are no web pages: {missing}");
            rooms.webviews = Err(missing.into());
            None
        }
        None => None,
    };
    let Some(data) = data else { return Ok(Opened { rooms, staging }) };
    rooms.workspaces = Some(Arc::new(workspaces(configuration, data)));
    if configuration.grants_processes() {
        rooms.processes = Some(Arc::new(processes(configuration, &rooms.spawner, data)?));
    }
    if configuration.grants_terminals() {
        let mut settings = terminal_room(&configuration.terminal, &configuration.process_limits, data, &rooms.streams);
        // Without it the ends of commands are seen by their prompts.
        settings.integration = ShellIntegration::write(&data.join(SHELLS))
            .inspect_err(|error| tracing::warn!("shells are not integrated: {error}"))
            .ok();
        rooms.terminals = Some(Arc::new(Terminals::open(rooms.spawner.clone(), settings)?));
    }
    Ok(Opened { rooms, staging })
}

fn processes(
    configuration: &Configuration,
    spawner: &Spawner,
    data: &Path,
) -> Result<Processes, wharf_process::OpenError> {
    let settings = process_room(&configuration.process_limits, &configuration.polls);
    let (processes, lost) = Processes::open(&data.join(PROCESSES), spawner.clone(), settings)?;
    for (owner, process) in lost {
        tracing::warn!(
            session = %owner.session, plugin = %owner.plugin, process = %process.id, command = process.command,
            "a process was lost when its host ended; its output is kept"
        );
    }
    Ok(processes)
}
