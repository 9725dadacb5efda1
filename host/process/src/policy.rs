//! From what a caller asks for to what is started, by the policy that all children share.
//!
//! Owns what a grant of processes adds to that policy. It never knows which call asked.

use std::{path::PathBuf, time::Duration};

use wharf_completion::polls::PollSettings;
use wharf_contract::process::{PollRules, ProcessRules};
use wharf_core::{
    Context,
    grant::{AllowedCommand, ChildGrant, GrantedProcess, ProcessGrant},
};
use wharf_spawn::policy::{self, CommandRequest, SpawnPlan, WorkspaceView};

use crate::{ProcessError, ProcessId, Processes, SpawnRequest};

pub use wharf_spawn::ChildWorkspace;

/// What processes are told of a terminal that they do not have.
const TERM: &str = "dumb";

/// What a caller asks to start.
#[derive(Debug, Clone)]
pub struct ProcessRequest<'r> {
    /// The program, or the text for a shell.
    pub command: AllowedCommand<'r>,
    /// Arguments of the program.
    pub arguments: &'r [String],
    /// Where it starts: below the workspace, relative to it or as it is shown;
    /// empty for the workspace.
    pub directory: &'r str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'r [(String, String)],
    /// Whether its standard input can be written to.
    pub input: bool,
    /// The deadline.
    pub lifetime: Option<Duration>,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
}

fn poll_rules(settings: PollSettings) -> PollRules {
    let PollSettings { guidance, threshold, hasty_threshold, language } = settings;
    PollRules { guidance, threshold, hasty_threshold, language: language.as_str().to_owned() }
}

impl Processes {
    /// Starts what was granted, in the workspace of its session. The program runs
    /// when this returns.
    ///
    /// # Errors
    /// [`ProcessError::Policy`] where the request cannot be carried out, or for a
    /// variable that is not granted; else as for [`Processes::spawn`].
    pub async fn start(
        &self,
        granted: &GrantedProcess<'_>,
        context: &Context,
        workspace: &ChildWorkspace,
        request: ProcessRequest<'_>,
    ) -> Result<ProcessId, ProcessError> {
        let capabilities = self.capabilities().await?;
        let ProcessRequest { command, arguments, directory, environment, input, lifetime, silence } = request;
        let stand_in = self.stand_in(&command, arguments)?;
        let command = CommandRequest { command, arguments, directory, environment, terminal: TERM, stand_in };
        let grant = granted.children();
        let SpawnPlan { program, arguments, environment, directory, command, limits, user, containment } =
            policy::plan(&grant, workspace, &command, &capabilities, self.limits())?;
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
            stay: workspace.stay.clone(),
        };
        let most = usize::try_from(granted.grant().maximum_concurrent).unwrap_or(usize::MAX);
        self.spawn(&granted.owner(context), request, most).await
    }

    /// The rules that hold for the processes of a plugin in this context.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn rules(
        &self,
        granted: &GrantedProcess<'_>,
        context: &Context,
        workspace: &ChildWorkspace,
    ) -> Result<ProcessRules, ProcessError> {
        let capabilities = self.capabilities().await?;
        let ProcessGrant { children, maximum_concurrent } = granted.grant().clone();
        let ChildGrant { shell, programs, network, lifetime_seconds, .. } = children;
        Ok(ProcessRules {
            shell,
            programs,
            containment: policy::mechanism_word(&capabilities).into(),
            missing: capabilities.containment.as_ref().err().map(ToString::to_string),
            refused: policy::refusal(&granted.children(), &capabilities),
            network,
            directory: WorkspaceView::of(workspace, &capabilities).files.display().to_string(),
            maximum_concurrent,
            lifetime_seconds: lifetime_seconds.min(self.limits().lifetime_seconds),
            polls: poll_rules(self.poll_settings(&granted.owner(context))),
        })
    }

    /// Where processes see the files of the workspace.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn files_as_seen(&self, workspace: &ChildWorkspace) -> Result<PathBuf, ProcessError> {
        Ok(WorkspaceView::of(workspace, &*self.capabilities().await?).files)
    }
}
