//! Bringing a terminal up: what was granted, its place among the others, its
//! program.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::Utc;
use tokio::time::Instant;
use wharf_core::{Context, StreamOwner, TerminalOwner, grant::GrantedTerminal};
use wharf_spawn::policy::{self, Asked, Place, Plan, View};

use super::{Started, Table, TerminalId, Terminals, Wanted, Why, entry::Terminal, keep::keep, lock, telling::Teller};
use crate::{History, Session, TerminalError, TerminalRequest, recording};

/// What programs are told of their terminal: they print what is read here.
const TERM: &str = "xterm-256color";
/// Commands are shown up to this length.
const COMMAND_BYTES: usize = 1_024;
/// What makes room gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A place among the terminals, given back where it is not taken.
struct Reserved {
    table: Arc<Mutex<Table>>,
    owner: TerminalOwner,
    /// What makes room, and why.
    leaving: Vec<(Arc<Terminal>, Why)>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        if let Some(count) = table.starting.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                table.starting.remove(&self.owner);
            }
        }
    }
}

impl Terminals {
    /// Starts what was granted in a terminal, in the place of its session. The
    /// program runs when this returns. An owner that has as many terminals as
    /// it may loses the one that it used least recently, and is told so;
    /// where there are as many as the host may have, the one that was idle for
    /// longest is closed.
    ///
    /// # Errors
    /// [`TerminalError::Invalid`] and [`TerminalError::Refused`] for what
    /// cannot be started or is not granted; [`TerminalError::Full`] where all
    /// terminals are busy; [`TerminalError::Start`]. What made room is closed
    /// also where the program could not be started.
    pub async fn start(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        place: &Place,
        wanted: Wanted<'_>,
    ) -> Result<Started, TerminalError> {
        self.bring_up(granted, context, place, wanted).await.map_err(|error| self.failed(error))
    }

    async fn bring_up(
        &self,
        granted: &GrantedTerminal<'_>,
        context: &Context,
        place: &Place,
        wanted: Wanted<'_>,
    ) -> Result<Started, TerminalError> {
        let settings = &self.common.settings;
        if wanted.record && settings.recording.is_none() {
            let problem = "terminals are not recorded here; leave it out, or have the operator configure it".to_owned();
            return Err(TerminalError::Invalid { problem });
        }
        let spawner = &self.common.spawner;
        let capabilities = spawner.capabilities().await.map_err(|source| TerminalError::Start { source })?;
        let Wanted { command, arguments, directory, environment, size, preset, restart, lifetime, record } = wanted;
        let asked = Asked { command, arguments, directory, environment, terminal: TERM };
        let grant = granted.children();
        let plan = policy::plan(&grant, place, &asked, &capabilities, &settings.children)?;
        let workspace = workspace(View::of(place, &capabilities).files);
        let mut profile = self.profiles.find(&plan.program, arguments);
        profile.preset = preset.unwrap_or(profile.preset);
        let restart = restart.or(profile.restart).unwrap_or(settings.restart);
        let lifetime = lifetime.unwrap_or(Duration::MAX).min(grant.lifetime());
        let lifetime = lifetime.min(Duration::from_secs(settings.limits.lifetime_seconds));
        let command = shown(&plan.command);
        let history_bytes = usize::try_from(settings.limits.history_bytes).unwrap_or(usize::MAX);
        let Plan { program, arguments, environment, directory, limits, user, containment, .. } = plan;
        let request = TerminalRequest {
            program,
            arguments,
            environment,
            working_directory: directory,
            size,
            history: History {
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

        let reserved = self.reserve(&owner)?;
        for (terminal, why) in &reserved.leaving {
            terminal.close(*why, GRACE).await;
        }
        let session = Session::start(spawner, request.clone()).await?;
        let teller = self.teller(context, id, &command);
        let deadline = Instant::now().checked_add(lifetime);
        let terminal =
            Terminal::new(id, owner, command, profile, teller, restart, session, request, workspace, deadline);
        let terminal = Arc::new(terminal);
        self.record(&terminal, record).await;
        let replaced = reserved.leaving.iter().filter(|(_, why)| *why == Why::Replaced);
        let started = Started { id, replaced: replaced.map(|(terminal, _)| terminal.id).collect() };
        // Whatever made room took its place until here.
        let mut table = lock(&self.table);
        if table.closed {
            return Err(TerminalError::ShuttingDown);
        }
        table.terminals.insert(id, Arc::clone(&terminal));
        drop(table);
        drop(reserved);
        self.common.counters.opened();
        tokio::spawn(keep(terminal, Arc::clone(&self.common)));
        self.forget_ended(Instant::now());
        Ok(started)
    }

    /// Opens the stream of a terminal, in the host's own name, so that no plugin
    /// writes to it. A terminal without one works all the same.
    fn teller(&self, context: &Context, id: TerminalId, command: &str) -> Option<Teller> {
        let opened = Teller::open(self.common.settings.streams.as_ref()?, StreamOwner::host(context), command);
        opened.inspect_err(|error| tracing::warn!(terminal = %id, %error, "a terminal has no stream")).ok()
    }

    /// Takes a place, if there is one: counted and taken under one lock, so
    /// that no two take the last.
    fn reserve(&self, owner: &TerminalOwner) -> Result<Reserved, TerminalError> {
        let limits = &self.common.settings.limits;
        let most = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let (most, most_of_owner) = (most(limits.open), most(limits.open_per_owner));
        let mut table = lock(&self.table);
        if table.closed {
            return Err(TerminalError::ShuttingDown);
        }
        let own_starting = table.starting.get(owner).copied().unwrap_or_default();
        if own_starting >= most_of_owner {
            return Err(TerminalError::Starting { limit: most_of_owner });
        }
        let mut own: Vec<_> = table.open().filter(|terminal| terminal.owner == *owner).cloned().collect();
        // Those that are used least are first, the busy ones last.
        own.sort_by_key(|terminal| (terminal.is_busy(), terminal.last_used(), terminal.id));
        own.truncate((own.len() + own_starting + 1).saturating_sub(most_of_owner));
        let mut leaving: Vec<_> = own.into_iter().map(|terminal| (terminal, Why::Replaced)).collect();
        let starting: usize = table.starting.values().sum();
        let open = table.open().count() + starting;
        let excess = (open + 1).saturating_sub(leaving.len()).saturating_sub(most);
        let others = table.open().filter(|terminal| !leaving.iter().any(|(leaving, _)| leaving.id == terminal.id));
        let mut idle: Vec<_> = others.filter(|terminal| !terminal.is_busy()).cloned().collect();
        if idle.len() < excess {
            return Err(TerminalError::Full { limit: most });
        }
        idle.sort_by_key(|terminal| (terminal.last_used(), terminal.id));
        leaving.extend(idle.into_iter().take(excess).map(|terminal| (terminal, Why::Evicted)));
        for (terminal, why) in &leaving {
            // From here on it takes no place.
            terminal.order_close(*why, GRACE);
        }
        *table.starting.entry(owner.clone()).or_default() += 1;
        drop(table);
        Ok(Reserved { table: Arc::clone(&self.table), owner: owner.clone(), leaving })
    }

    /// Has a terminal recorded where that is wanted. What cannot be recorded
    /// works all the same, unless its caller asked for it.
    async fn record(&self, terminal: &Terminal, wanted: bool) {
        let Some(settings) = self.common.settings.recording.as_ref().filter(|settings| settings.every || wanted) else {
            return;
        };
        let subject = recording::Subject {
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
