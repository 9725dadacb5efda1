//! Opens the backends that calls reach.

use std::{path::Path, sync::Arc};

use wharf_completion::Streams;
use wharf_core::{grant::GrantClock, handle::HandleMint};
use wharf_encryption::AtRest;
use wharf_engine::{Backends, NoWebViews};
use wharf_network::{RequestClient, ServerStandIns};
use wharf_process::{ProcessSettings, Processes};
use wharf_spawn::{ChildWorkspace, ProbeWorkspace, Spawner, StandIns};
use wharf_state::StateStore;
use wharf_terminal::{ShellIntegration, Terminals};
use wharf_webview::WebViewBackend;
use wharf_workspace::{TrialWorkspace, Workspace, WorkspaceOptions, Workspaces};

use crate::{
    configuration::{Configuration, RequiredContainment, process_settings, terminal_settings},
    host::open_error::OpenError,
    paths,
    webviews::{self, Staging},
};

/// Where the files of sessions are, below the data directory.
const WORKSPACES: &str = "workspaces";
/// Where processes and their output are, below the data directory.
pub(crate) const PROCESSES: &str = "processes";
/// Where the files are that shells read, below the data directory.
const SHELLS: &str = "shells";

/// The workspaces of a data directory, for the operator.
#[must_use]
pub fn workspaces(configuration: &Configuration, data: &Path) -> Workspaces {
    let options = WorkspaceOptions::new(&configuration.process_limits, configuration.workspace.expiry());
    // Without a current directory the path stays what it is, and nothing will be there.
    let data = paths::absolute(data).unwrap_or_else(|_| data.to_owned());
    Workspaces::new(&data.join(WORKSPACES), options)
}

/// The backends, and what has to live as long as they do.
pub(crate) struct OpenedBackends {
    pub(crate) backends: Backends,
    pub(crate) staging: Option<Staging>,
}

/// What an app brings instead of the host's own, and what names what they hand out.
#[derive(Default)]
pub(crate) struct BroughtBackends {
    pub(crate) webviews: Option<Arc<dyn WebViewBackend>>,
    pub(crate) stand_ins: Option<Arc<dyn StandIns>>,
    pub(crate) servers: Option<Arc<dyn ServerStandIns>>,
    pub(crate) handles: HandleMint,
}

/// Opens the backends that somebody may use, and where `can_grow` the others, too: what
/// plugins are granted then changes while the host serves. Nothing is started before
/// somebody needs it, and what cannot be had keeps the host from opening only where
/// somebody may use it now.
pub(crate) fn open(
    configuration: &Configuration,
    state: Arc<dyn StateStore>,
    data: Option<(&Path, &AtRest)>,
    brought: BroughtBackends,
    can_grow: bool,
) -> Result<OpenedBackends, OpenError> {
    let BroughtBackends { webviews, stand_ins, servers, handles } = brought;
    let mut backends = Backends::with_state(state);
    backends.streams = Streams::new(configuration.stream_limits.clone()).with_handles(handles.clone());
    backends.requests = RequestClient::new(configuration.request_limits.clone());
    if let Some(servers) = servers {
        backends.requests = backends.requests.standing_in(servers);
    }
    backends.spawner = spawner(configuration, data.map(|(data, _)| data));
    if let Some(stand_ins) = stand_ins {
        backends.spawner = backends.spawner.standing_in(stand_ins);
    }
    let mut staging = None;
    let granted = configuration.grants_webviews();
    if granted || can_grow {
        match webviews::open(configuration, &backends.spawner, webviews, handles.clone()) {
            Ok((webviews, place)) => (backends.webviews, staging) = (Ok(webviews), place),
            Err(missing) => {
                if granted {
                    tracing::warn!(target: "wharf::start", "there are no web pages: {missing}");
                }
                backends.webviews = Err(NoWebViews(missing.into()));
            }
        }
    }
    let Some((data, at_rest)) = data else { return Ok(OpenedBackends { backends, staging }) };
    // A use under a clock that is behind is not old once it is right again.
    let time = backends.state.host_time();
    let clock = GrantClock::new(move || time.stamp());
    let workspaces = workspaces(configuration, data).with_clock(clock.clone());
    backends.workspaces = Some(Arc::new(workspaces));
    let granted = configuration.grants_processes();
    if granted || can_grow {
        match processes(configuration, &backends.spawner, (data, at_rest), clock, handles.clone()) {
            Ok(processes) => backends.processes = Some(Arc::new(processes)),
            Err(error) if granted => return Err(error.into()),
            Err(error) => tracing::debug!("there is no place for processes: {error}"),
        }
    }
    let granted = configuration.grants_terminals();
    if granted || can_grow {
        let mut settings =
            terminal_settings(&configuration.terminal, &configuration.process_limits, data, &backends.streams);
        settings.handles = handles;
        settings.at_rest = at_rest.clone();
        settings.integration = match ShellIntegration::write(&data.join(SHELLS)) {
            Ok(integration) => Some(integration),
            Err(error) => {
                // Without it the ends of commands are seen by their prompts.
                if granted {
                    tracing::warn!("shells are not integrated: {error}");
                }
                None
            }
        };
        backends.terminals = Some(Arc::new(Terminals::open(backends.spawner.clone(), settings)?));
    }
    Ok(OpenedBackends { backends, staging })
}

/// What starts children: tried in a workspace as sessions have one, where there
/// are any.
fn spawner(configuration: &Configuration, data: Option<&Path>) -> Spawner {
    let spawner = Spawner::new();
    let spawner = match configuration.required_containment {
        Some(RequiredContainment::Namespaces) => spawner.requiring_namespaces(),
        None => spawner,
    };
    let Some(data) = data else { return spawner };
    let workspaces = workspaces(configuration, data);
    spawner.probing_in(move || {
        let trial = workspaces.trial().map_err(std::io::Error::other)?;
        let TrialWorkspace { workspace: Workspace { files, home, user, .. }, .. } = &trial;
        let workspace = ChildWorkspace { files: files.clone(), home: home.clone(), user: *user, stay: None };
        Ok(ProbeWorkspace { workspace, guard: Box::new(trial) })
    })
}

fn processes(
    configuration: &Configuration,
    spawner: &Spawner,
    (data, at_rest): (&Path, &AtRest),
    clock: GrantClock,
    handles: HandleMint,
) -> Result<Processes, wharf_process::OpenError> {
    let settings = process_settings(&configuration.process_limits, &configuration.polls, clock);
    let settings = ProcessSettings { handles, at_rest: at_rest.clone(), ..settings };
    let (processes, lost) = Processes::open(&data.join(PROCESSES), spawner.clone(), settings)?;
    for (owner, process) in lost {
        tracing::warn!(
            session = %owner.session, plugin = %owner.plugin, process = %process.id, command = process.command,
            "a process was lost when its host ended; its output is kept"
        );
    }
    Ok(processes)
}
