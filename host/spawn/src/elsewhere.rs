//! The spawner of systems other than Linux, which have no supervisor: children run
//! uncontained and unlimited, and every request for more is refused with the reason.

#[cfg(test)]
mod tests;

use std::{
    io,
    process::{Command, Stdio},
    sync::Arc,
};

use tokio::task::spawn_blocking;
use wharf_core::grant::AllowedCommand;

use crate::{
    Capabilities, ChildInput, ChildOutput, MissingAbility, ProbeWorkspace, ProcessLimitScope, SandboxMechanism,
    SpawnError, SpawnRequest, StandIn, StandIns, policy::PolicyError, stand_in::ChosenStandIns, uncontained,
};

pub use crate::uncontained::UncontainedChild as Child;

/// Starts children without containment. It needs nothing that it could share with clones.
#[derive(Debug, Clone, Default)]
pub struct Spawner {
    namespaces_required: bool,
    stand_ins: ChosenStandIns,
}

impl Spawner {
    /// A spawner that has started nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same spawner: no mechanism works here.
    #[doc(hidden)]
    #[must_use]
    pub fn with(_contained: SandboxMechanism) -> Self {
        Self::default()
    }

    /// Refuses all children: no grant gives containment up.
    #[must_use]
    pub fn requiring_namespaces(self) -> Self {
        Self { namespaces_required: true, ..self }
    }

    /// The same spawner: there is nothing to try in a workspace.
    #[must_use]
    pub fn probing_in(self, _make: impl Fn() -> io::Result<ProbeWorkspace> + Send + Sync + 'static) -> Self {
        self
    }

    /// Has programs played by others. Children of the host itself are always what they are.
    #[must_use]
    pub fn standing_in(self, stand_ins: Arc<dyn StandIns>) -> Self {
        Self { stand_ins: ChosenStandIns::new(stand_ins), ..self }
    }

    /// The program that plays the part of an allowed command, for [`CommandRequest::stand_in`].
    ///
    /// # Errors
    /// Why the command may not run at all.
    ///
    /// [`CommandRequest::stand_in`]: crate::policy::CommandRequest::stand_in
    pub fn stand_in(&self, command: &AllowedCommand<'_>, arguments: &[String]) -> Result<Option<StandIn>, PolicyError> {
        self.stand_ins.find(command, arguments)
    }

    /// The same spawner: it prepares nothing.
    #[doc(hidden)]
    #[must_use]
    pub fn without_prepared_sandboxes(self) -> Self {
        self
    }

    /// The abilities of this machine: it contains and limits nothing.
    ///
    /// # Errors
    /// None.
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, SpawnError> {
        let missing = || MissingAbility(uncontained::CONTAINED.to_owned());
        Ok(Arc::new(Capabilities {
            containment: Err(missing()),
            namespaces: Err(missing()),
            landlock: Err(missing()),
            landlock_version: 0,
            another_user: false,
            process_limit: ProcessLimitScope::Nothing,
            memory_of_trees: false,
            user_namespaces: false,
            seccomp: false,
            pidfd: false,
            namespaces_required: self.namespaces_required,
            settled: true,
            warnings: Vec::new(),
        }))
    }

    /// Starts a child, uncontained and unlimited. Dropping the future ends what it has
    /// started.
    ///
    /// # Errors
    /// [`SpawnError::Uncontainable`] where containment is asked for,
    /// [`SpawnError::Unsupported`] for limits, terminals and descriptors beside the streams,
    /// and all that keeps a program from running; then nothing of the child is left.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<Child, SpawnError> {
        request.check()?;
        let SpawnRequest { containment, user, limits, program, working_directory, .. } = &request;
        uncontained::check(containment, *user, limits, program, working_directory).map_err(|error| match error {
            SpawnError::Uncontainable { missing, .. } => {
                SpawnError::Uncontainable { missing, required: self.namespaces_required }
            }
            error => error,
        })?;
        let program = request.program.clone();
        let mut command = command(request)?;
        let started = spawn_blocking(move || {
            let started = command.spawn();
            Child::follow(started.map_err(|source| SpawnError::Program { step: "run", path: program, source })?)
        });
        started.await.map_err(SpawnError::system("start a program"))?
    }
}

/// The command of a request.
fn command(request: SpawnRequest) -> Result<Command, SpawnError> {
    if !request.descriptors.is_empty() {
        return Err(SpawnError::Unsupported("only Linux gives a program descriptors beside its streams"));
    }
    let no_terminal = || SpawnError::Unsupported("only Linux gives a program the terminal that another library opened");
    let output = |output| match output {
        ChildOutput::Null => Ok(Stdio::null()),
        ChildOutput::Pipe => Ok(Stdio::piped()),
        ChildOutput::File(file) => Ok(Stdio::from(file)),
        ChildOutput::Terminal => Err(no_terminal()),
    };
    let mut command = Command::new(request.program);
    command.args(request.arguments).current_dir(request.working_directory);
    command.env_clear().envs(request.environment);
    command.stdin(match request.stdin {
        ChildInput::Null => Stdio::null(),
        ChildInput::Pipe => Stdio::piped(),
        ChildInput::Terminal(_) => return Err(no_terminal()),
    });
    command.stdout(output(request.stdout)?).stderr(output(request.stderr)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(windows)]
    {
        /// `CREATE_NO_WINDOW`
        const WITHOUT_WINDOW: u32 = 0x0800_0000;
        std::os::windows::process::CommandExt::creation_flags(&mut command, WITHOUT_WINDOW);
    }
    Ok(command)
}

/// Refuses: only Linux has the filters that it needs.
///
/// # Errors
/// Always.
pub fn lock_down() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux locks down a program of the host itself"))
}
