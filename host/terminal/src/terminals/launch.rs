//! Bringing a terminal up: what was granted, its place among the others, its
//! program.
//!
//! Owns in which order these come, so that nothing is closed for a program that
//! was not started. Never knows which other terminal makes room.

use std::{path::PathBuf, sync::Arc, time::Duration};

use chrono::Utc;
use tokio::time::Instant;
use wharf_core::{
    Context, StreamOwner, TerminalOwner,
    grant::{AllowedCommand, GrantedTerminal},
};
use wharf_spawn::{
    ChildWorkspace,
    policy::{self, CommandRequest, SpawnPlan, WorkspaceView},
};

use super::Terminals;
use crate::{
    HistoryLimits, LaunchOutcome, Restart, TerminalError, TerminalId, TerminalRequest, TerminalSession, TerminalSize,
    pool::{LaunchedTerminal, PlannedTerminal, PooledTerminal, TerminalEventStream, keep},
    profile::ProfileChoice,
    recording,
};

/// What programs are told of their terminal: they print what is read here.
const TERM: &str = "xterm-256color";
/// Commands are shown up to this length.
const COMMAND_BYTES: usize = 1_024;

/// What a caller asks to have started in a terminal.
#[derive(Debug, Clone)]
pub struct LaunchRequest<'w> {
    /// The program, or the shell.
    pub command: AllowedCommand<'w>,
    /// Arguments of the program.
    pub arguments: &'w [String],
    /// Where it starts: below the workspace, relative to it or as it is shown;
    /// empty for the workspace.
    pub directory: &'w str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'w [(String, String)],
    /// How large the terminal is.
    pub size: TerminalSize,
    /// What kind of program it is: a profile of the operator's or a preset. What
    /// follows from the program where absent.
    pub profile: Option<&'w str>,
    /// Whether it is started again; what its profile says where absent.
    pub restart: Option<Restart>,
    /// How long it may be open; the grant's and the host's own limits hold,
    /// too.
    pub lifetime: Option<Duration>,
    /// Whether it is to be recorded.
    pub record: bool,
    /// Whether it must have a stream of events, without which it is not started.
    pub needs_stream: bool,
}

impl<'w> LaunchRequest<'w> {
    /// A command with every default.
    #[must_use]
    pub fn new(command: AllowedCommand<'w>) -> Self {
        Self {
            command,
            arguments: &[],
            directory: "",
            environment: &[],
            size: TerminalSize::default(),
            profile: None,
            restart: None,
            lifetime: None,
            record: false,
            needs_stream: false,
        }
    }
}

impl Terminals {
    /// Starts what was granted in a terminal, in the workspace of its session. The
    /// program runs when this returns. An owner that has as many terminals as
    /// it may loses the one that it used least recently, and is told so; where
    /// its session, its tenant or the host has as many as may be, that one of
    /// the same tenant is closed that is unused for longest.
    ///
    /// # Errors
    /// [`TerminalError::Invalid`] and [`TerminalError::Policy`] for what
    /// cannot be started or is not granted; [`TerminalError::Full`] where no
    /// terminal of the tenant is unused; [`TerminalError::NoEventStream`];
    /// [`TerminalError::Start`]. Nothing is closed for what was not started.
    pub async fn start(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        workspace: &ChildWorkspace,
        request: LaunchRequest<'_>,
    ) -> Result<LaunchOutcome, TerminalError> {
        self.bring_up(granted, context, workspace, request).await.map_err(|error| self.failed(error))
    }

    async fn bring_up(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        place: &ChildWorkspace,
        request: LaunchRequest<'_>,
    ) -> Result<LaunchOutcome, TerminalError> {
        let LaunchRequest { record, needs_stream, .. } = request;
        if record && self.pool.recordings.is_none() {
            let problem = "terminals are not recorded here; leave it out, or have the operator configure it".to_owned();
            return Err(TerminalError::Invalid { problem });
        }
        let planned = self.plan(granted, place, request).await?;
        let (owner, stay) = (granted.owner(context), place.stay.clone());
        let id = self.pool.settings.handles.handle().map(TerminalId).map_err(TerminalError::system("make an id"))?;

        let reservation = self.pool.reserve(&owner)?;
        let session = TerminalSession::start(&self.pool.spawner, planned.request.clone()).await?;
        let events = self.event_stream(context, id, &planned.command);
        if needs_stream && events.is_none() {
            return Err(TerminalError::NoEventStream);
        }
        let launched = LaunchedTerminal { id, owner, planned, events, session, stay };
        let terminal = Arc::new(PooledTerminal::new(launched));
        self.record(&terminal, record).await;
        // It runs, so from here on nothing fails, and others may go for it.
        let displacement = reservation.admit(&terminal)?;
        self.pool.counters.opened();
        tokio::spawn(keep(terminal, Arc::clone(&self.pool)));
        for terminal in &displacement.ending {
            terminal.over().await;
        }
        self.pool.forget_ended(Instant::now());
        Ok(LaunchOutcome { id, replaced: displacement.replaced })
    }

    /// What follows for a terminal from its grant, its request, the profile of its
    /// program and the settings.
    async fn plan(
        &self,
        granted: &GrantedTerminal<'_>,
        workspace: &ChildWorkspace,
        request: LaunchRequest<'_>,
    ) -> Result<PlannedTerminal, TerminalError> {
        let settings = &self.pool.settings;
        let capabilities = self.pool.spawner.capabilities().await;
        let capabilities = capabilities.map_err(|source| TerminalError::Start { source })?;
        let LaunchRequest { command, arguments, directory, environment, .. } = request;
        let chosen = request.profile.map(|name| self.profiles.kind(name)).transpose()?;
        let stand_in = self.pool.spawner.stand_in(&command, arguments)?;
        let command = CommandRequest { command, arguments, directory, environment, terminal: TERM, stand_in };
        let grant = granted.children();
        let plan = policy::plan(&grant, workspace, &command, &capabilities, &settings.children)?;
        let workspace = system_path(WorkspaceView::of(workspace, &capabilities).files);
        let mut profile = self.profiles.find(&plan.program, arguments);
        match chosen {
            Some(ProfileChoice::Preset(preset)) => profile.preset = preset,
            // How it is judged, and what else the operator says of such programs.
            Some(ProfileChoice::Profile(named)) => profile = named.started_as(&profile),
            None => {}
        }
        let restart = request.restart.or(profile.restart).unwrap_or(settings.restart);
        let lifetime = request.lifetime.unwrap_or(Duration::MAX).min(grant.lifetime());
        let lifetime = lifetime.min(Duration::from_secs(settings.limits.lifetime_seconds));
        let history_bytes = usize::try_from(settings.limits.history_bytes).unwrap_or(usize::MAX);
        let history = HistoryLimits {
            raw_bytes: history_bytes,
            text_bytes: history_bytes,
            scrollback_lines: usize::try_from(settings.limits.history_lines).unwrap_or(usize::MAX),
        };
        let command = shown(&plan.command);
        let SpawnPlan { program, arguments, environment, directory, limits, user, containment, .. } = plan;
        let request = TerminalRequest {
            program,
            arguments,
            environment,
            working_directory: directory,
            pty: settings.pty,
            size: request.size,
            history,
            rules: profile.rules.clone(),
            limits,
            containment,
            user,
            integration: settings.integration.clone(),
        };
        Ok(PlannedTerminal { command, profile, restart, lifetime, workspace, request })
    }

    /// Opens the stream of a terminal, in the host's own name, so that no plugin
    /// writes to it. A terminal without one works all the same.
    fn event_stream(&self, context: &Context, id: TerminalId, command: &str) -> Option<TerminalEventStream> {
        let opened =
            TerminalEventStream::open(self.pool.settings.streams.as_ref()?, StreamOwner::host(context), command);
        opened.inspect_err(|error| tracing::warn!(terminal = %id, %error, "a terminal has no stream")).ok()
    }

    /// Has a terminal recorded where that is wanted. What cannot be recorded
    /// works all the same, unless its caller asked for it.
    async fn record(&self, terminal: &PooledTerminal, wanted: bool) {
        let Some(store) = self.pool.recordings.as_ref().filter(|store| store.settings().every || wanted) else {
            return;
        };
        let TerminalOwner { tenant, session, .. } = terminal.owner.clone();
        let subject = recording::RecordingSubject {
            owner: recording::RecordingOwner { tenant, session },
            name: terminal.id.to_string(),
            title: terminal.command.clone(),
            terminal: TERM.to_owned(),
            size: terminal.session.size(),
            began: Utc::now(),
        };
        let Ok(viewer) = terminal.session.view(store.settings().input) else { return };
        match recording::begin(store, subject, viewer).await {
            Ok(path) => terminal.set_recording(path),
            Err(error) => tracing::warn!(terminal = %terminal.id, %error, "a terminal is not recorded"),
        }
    }
}

/// The beginning of a command.
fn shown(command: &str) -> String {
    if command.len() <= COMMAND_BYTES {
        return command.to_owned();
    }
    format!("{}…", &command[..command.floor_char_boundary(COMMAND_BYTES)])
}

/// The path that the system calls the workspace by: that of its links, where
/// the program sees what the host sees.
fn system_path(shown: PathBuf) -> PathBuf {
    std::fs::canonicalize(&shown).unwrap_or(shown)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_long_command_is_cut_between_characters() {
        assert_eq!(shown("bash"), "bash");
        assert_eq!(shown(&"é".repeat(600)), format!("{}…", "é".repeat(512)));
        assert_eq!(system_path(Path::new("/nowhere/at/all").to_owned()), Path::new("/nowhere/at/all"));
    }
}
