//! What a caller wants of a process, handed to the policy that all children
//! share.
//!
//! It never knows which call asked, and starts nothing itself.

use std::{path::PathBuf, time::Duration};

use serde::Serialize;
use wharf_completion::polls::PollSettings;
use wharf_core::{
    Context,
    grant::{AllowedCommand, GrantedProcess, ProcessGrant},
};
use wharf_spawn::policy::{self, CommandRequest, PolicyError, SpawnPlan, WorkspaceView};

use crate::{ProcessError, ProcessId, Processes, SpawnRequest};

pub use wharf_spawn::ChildWorkspace;

/// What processes are told of a terminal that they do not have.
const TERM: &str = "dumb";

/// What a caller wants to have started.
#[derive(Debug, Clone)]
pub struct Wanted<'w> {
    /// The program, or the text for a shell.
    pub command: AllowedCommand<'w>,
    /// Arguments of the program.
    pub arguments: &'w [String],
    /// Where it starts: below the workspace, relative to it or as it is shown;
    /// empty for the workspace.
    pub directory: &'w str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'w [(String, String)],
    /// Whether its standard input can be written to.
    pub input: bool,
    /// The deadline.
    pub lifetime: Option<Duration>,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
}

/// What holds for the processes of a plugin here, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Whether texts may be handed to a shell.
    pub shell: bool,
    /// Patterns of programs that may be started.
    pub programs: Vec<String>,
    /// `bubblewrap`, `landlock`, or `none`.
    pub containment: &'static str,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Why nothing can be started; absent where it can, be it because the operator gave
    /// containment up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether processes have the host's network.
    pub network: bool,
    /// The workspace as processes see it.
    pub directory: PathBuf,
    /// Processes that a session may have at once.
    pub maximum_concurrent: u64,
    /// How long one may run.
    pub lifetime_seconds: u64,
    /// How polls are judged here.
    pub polls: PollStanding,
}

/// How the polls of a session are judged, for people and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PollStanding {
    /// Whether advice is given at all.
    pub guidance: bool,
    /// Polls in a row that bring the first.
    pub threshold: u32,
    /// How many are enough where they are hasty, if fewer are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hasty_threshold: Option<u32>,
    /// `en` or `ko`.
    pub language: &'static str,
}

impl From<PollSettings> for PollStanding {
    fn from(settings: PollSettings) -> Self {
        let PollSettings { guidance, threshold, hasty_threshold, language } = settings;
        Self { guidance, threshold, hasty_threshold, language: language.as_str() }
    }
}

impl Processes {
    /// Starts what was granted, in the place of its session. The program runs
    /// when this returns.
    ///
    /// # Errors
    /// [`ProcessError::Invalid`] where the request cannot be carried out, or as
    /// for [`Processes::spawn`]; [`ProcessError::Refused`] for a program or a
    /// variable that is not granted.
    pub async fn start(
        &self,
        granted: &GrantedProcess<'_>,
        context: &Context,
        place: &ChildWorkspace,
        wanted: Wanted<'_>,
    ) -> Result<ProcessId, ProcessError> {
        let capabilities = self.capabilities().await?;
        let Wanted { command, arguments, directory, environment, input, lifetime, silence } = wanted;
        let asked = CommandRequest { command, arguments, directory, environment, terminal: TERM };
        let grant = granted.children();
        let SpawnPlan { program, arguments, environment, directory, command, limits, user, containment } =
            policy::plan(&grant, place, &asked, &capabilities, self.limits())?;
        let lifetime = Some(lifetime.unwrap_or(Duration::MAX).min(grant.lifetime()));
        let request = SpawnRequest {
            program,
            arguments,
            environment,
            directory,
            command,
            input,
            lifetime,
            silence,
            limits,
            containment,
            user,
        };
        let most = usize::try_from(granted.grant().maximum_concurrent).unwrap_or(usize::MAX);
        self.spawn(&granted.owner(context), request, most).await
    }

    /// What holds for the processes of a plugin in this context.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn standing(
        &self,
        granted: &GrantedProcess<'_>,
        context: &Context,
        place: &ChildWorkspace,
    ) -> Result<Standing, ProcessError> {
        let capabilities = self.capabilities().await?;
        let ProcessGrant { shell, programs, network, maximum_concurrent, lifetime_seconds, .. } =
            granted.grant().clone();
        Ok(Standing {
            shell,
            programs,
            containment: policy::mechanism_name(&capabilities),
            missing: capabilities.containment.as_ref().err().cloned(),
            refused: policy::refusal(&granted.children(), &capabilities),
            network,
            directory: WorkspaceView::of(place, &capabilities).files,
            maximum_concurrent,
            lifetime_seconds: lifetime_seconds.min(self.limits().lifetime_seconds),
            polls: self.poll_settings(&granted.owner(context)).into(),
        })
    }

    /// The workspace as processes see it.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn shown(&self, place: &ChildWorkspace) -> Result<PathBuf, ProcessError> {
        Ok(WorkspaceView::of(place, &*self.capabilities().await?).files)
    }
}

impl From<PolicyError> for ProcessError {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Invalid { problem } => Self::Invalid { problem },
            PolicyError::Refused { source } => Self::Refused { source },
        }
    }
}
