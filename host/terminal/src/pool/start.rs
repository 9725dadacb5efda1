//! Bringing a terminal up: what was granted, its place among the others, its
//! program.

use std::{path::PathBuf, sync::Arc, time::Duration};

use chrono::Utc;
use tokio::time::Instant;
use wharf_core::{Context, StreamOwner, grant::GrantedTerminal};
use wharf_spawn::{
    ChildWorkspace,
    policy::{self, CommandRequest, SpawnPlan, WorkspaceView},
};

use super::{
    LaunchOutcome, LaunchRequest, TerminalId, Terminals,
    entry::PooledTerminal,
    keep::keep,
    lock,
    places::{Displacement, Reservation},
    profile::ProfileChoice,
    telling::TerminalEventStream,
    tombstones::forget_ended,
};
use crate::{HistoryLimits, TerminalError, TerminalRequest, TerminalSession, recording};

/// What programs are told of their terminal: they print what is read here.
const TERM: &str = "xterm-256color";
/// Commands are shown up to this length.
const COMMAND_BYTES: usize = 1_024;
impl Terminals {
    /// Starts what was granted in a terminal, in the place of its session. The
    /// program runs when this returns. An owner that has as many terminals as
    /// it may loses the one that it used least recently, and is told so; where
    /// its session, its tenant or the host has as many as may be, that one of
    /// the same tenant is closed that is unused for longest.
    ///
    /// # Errors
    /// [`TerminalError::Invalid`] and [`TerminalError::Policy`] for what
    /// cannot be started or is not granted; [`TerminalError::Full`] where no
    /// terminal of the tenant is unused; [`TerminalError::Untold`];
    /// [`TerminalError::Start`]. Nothing is closed for what was not started.
    pub async fn start(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        place: &ChildWorkspace,
        wanted: LaunchRequest<'_>,
    ) -> Result<LaunchOutcome, TerminalError> {
        self.bring_up(granted, context, place, wanted).await.map_err(|error| self.failed(error))
    }

    async fn bring_up(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        place: &ChildWorkspace,
        wanted: LaunchRequest<'_>,
    ) -> Result<LaunchOutcome, TerminalError> {
        let settings = &self.common.settings;
        if wanted.record && settings.recording.is_none() {
            let problem = "terminals are not recorded here; leave it out, or have the operator configure it".to_owned();
            return Err(TerminalError::Invalid { problem });
        }
        let spawner = &self.common.spawner;
        let capabilities = spawner.capabilities().await.map_err(|source| TerminalError::Start { source })?;
        let LaunchRequest {
            command,
            arguments,
            directory,
            environment,
            size,
            profile: kind,
            restart,
            lifetime,
            record,
            told,
        } = wanted;
        let kind = kind.map(|name| self.profiles.kind(name)).transpose()?;
        let asked = CommandRequest { command, arguments, directory, environment, terminal: TERM };
        let grant = granted.children();
        let plan = policy::plan(&grant, place, &asked, &capabilities, &settings.children)?;
        let workspace = workspace(WorkspaceView::of(place, &capabilities).files);
        let mut profile = self.profiles.find(&plan.program, arguments);
        match kind {
            Some(ProfileChoice::Preset(preset)) => profile.preset = preset,
            // How it is judged, and what else the operator says of such programs.
            Some(ProfileChoice::Profile(named)) => profile = named.started_as(&profile),
            None => {}
        }
        let restart = restart.or(profile.restart).unwrap_or(settings.restart);
        let lifetime = lifetime.unwrap_or(Duration::MAX).min(grant.lifetime());
        let lifetime = lifetime.min(Duration::from_secs(settings.limits.lifetime_seconds));
        let command = shown(&plan.command);
        let history_bytes = usize::try_from(settings.limits.history_bytes).unwrap_or(usize::MAX);
        let SpawnPlan { program, arguments, environment, directory, limits, user, containment, .. } = plan;
        let request = TerminalRequest {
            program,
            arguments,
            environment,
            working_directory: directory,
            pty: settings.pty,
            size,
            history: HistoryLimits {
                raw_bytes: history_bytes,
                text_bytes: history_bytes,
                screen_lines: usize::try_from(settings.limits.history_lines).unwrap_or(usize::MAX),
            },
            rules: profile.rules.clone(),
            limits,
            containment,
            user,
            integration: settings.integration.clone(),
        };
        let owner = granted.owner(context);
        let id = TerminalId::random()
            .map_err(|error| TerminalError::System { action: "make an id", source: std::io::Error::other(error) })?;

        let mut reserved = self.reserve(&owner)?;
        let session = TerminalSession::start(spawner, request.clone()).await?;
        let teller = self.teller(context, id, &command);
        if told && teller.is_none() {
            return Err(TerminalError::Untold);
        }
        let deadline = Instant::now().checked_add(lifetime);
        let terminal =
            PooledTerminal::new(id, owner, command, profile, teller, restart, session, request, workspace, deadline);
        let terminal = Arc::new(terminal);
        self.record(&terminal, record).await;
        // It runs, so from here on nothing fails, and others may go for it.
        let left = self.insert(&terminal, &mut reserved)?;
        drop(reserved);
        self.common.counters.opened();
        tokio::spawn(keep(terminal, Arc::clone(&self.common), Arc::downgrade(&self.table)));
        for terminal in &left.leaving {
            terminal.over().await;
        }
        forget_ended(&self.table, &self.common, Instant::now());
        Ok(LaunchOutcome { id, replaced: left.replaced })
    }

    /// Adds a terminal that runs, in its place.
    fn insert(
        &self,
        terminal: &Arc<PooledTerminal>,
        reserved: &mut Reservation,
    ) -> Result<Displacement, TerminalError> {
        let mut table = lock(&self.table);
        if table.closed {
            return Err(TerminalError::ShuttingDown);
        }
        table.terminals.insert(terminal.id, Arc::clone(terminal));
        Ok(reserved.take(terminal, &self.common.settings.limits))
    }

    /// Opens the stream of a terminal, in the host's own name, so that no plugin
    /// writes to it. A terminal without one works all the same.
    fn teller(&self, context: &Context, id: TerminalId, command: &str) -> Option<TerminalEventStream> {
        let opened =
            TerminalEventStream::open(self.common.settings.streams.as_ref()?, StreamOwner::host(context), command);
        opened.inspect_err(|error| tracing::warn!(terminal = %id, %error, "a terminal has no stream")).ok()
    }

    /// Has a terminal recorded where that is wanted. What cannot be recorded
    /// works all the same, unless its caller asked for it.
    async fn record(&self, terminal: &PooledTerminal, wanted: bool) {
        let Some(settings) = self.common.settings.recording.as_ref().filter(|settings| settings.every || wanted) else {
            return;
        };
        let subject = recording::RecordingSubject {
            name: terminal.id.to_string(),
            title: terminal.command.clone(),
            terminal: TERM.to_owned(),
            size: terminal.session.size(),
            began: Utc::now(),
        };
        let Ok(viewer) = terminal.session.view(settings.input) else { return };
        match recording::begin(settings, subject, viewer).await {
            Ok(path) => terminal.recorded(path),
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
fn workspace(shown: PathBuf) -> PathBuf {
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
        assert_eq!(workspace(Path::new("/nowhere/at/all").to_owned()), Path::new("/nowhere/at/all"));
    }
}
