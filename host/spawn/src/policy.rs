//! Turns a grant into a plan for a child: its program, its view of the files, its
//! environment and its limits.
//!
//! Owns the answer to "what does a child of a session have?", the same for
//! processes and for terminals. It never knows the call behind a request, and starts
//! nothing itself.

mod lookup;
mod system;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf, is_separator},
};

use wharf_contract::process;
use wharf_core::{
    Code, Error, ProcessLimits,
    grant::{AllowedCommand, GrantedChildren},
};

use crate::{
    Bind, Capabilities, ChildLimits, ChildWorkspace, Containment, ProcessLimitScope, Sandbox, SandboxMechanism,
    StandIn, system_paths,
};
use lookup::Lookup;

/// The workspace, in sandboxes that can show paths at other places.
const WORKSPACE: &str = "/workspace";
/// The home directory in such sandboxes.
const HOME: &str = "/home/wharf";
/// Most variables of one request.
const MAX_VARIABLES: usize = 1_000;

/// A caller's request for a child.
#[derive(Debug, Clone)]
pub struct CommandRequest<'a> {
    /// The program, or the text for a shell.
    pub command: AllowedCommand<'a>,
    /// Arguments of the program.
    pub arguments: &'a [String],
    /// Its working directory: below the workspace, relative to it or as the child sees it;
    /// empty for the workspace.
    pub directory: &'a str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'a [(String, String)],
    /// The value of `TERM`.
    pub terminal: &'a str,
    /// The program that plays its part.
    pub stand_in: Option<StandIn>,
}

/// The plan for a child: all of a [`SpawnRequest`](crate::SpawnRequest) but its streams.
#[derive(Debug, Clone)]
pub struct SpawnPlan {
    /// Absolute path of the program, as the child sees it.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory, as the child sees it.
    pub directory: PathBuf,
    /// The command as a person would write it.
    pub command: String,
    /// Its limits.
    pub limits: ChildLimits,
    /// Its user, where it is not the host's own.
    pub user: Option<u32>,
    /// Its containment.
    pub containment: Containment,
}

/// Why a request cannot become a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The request is malformed.
    #[error("{problem}")]
    Invalid {
        /// The problem and its remedy.
        problem: String,
    },
    /// The grant does not cover the request.
    #[error("{}", source.message)]
    Refused {
        /// The refusal of the grant.
        source: Error,
    },
}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Invalid { problem } => Self::new(Code::Invalid, problem),
            PolicyError::Refused { source } => source,
        }
    }
}

fn invalid(problem: String) -> PolicyError {
    PolicyError::Invalid { problem }
}

/// The paths at which children see their workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceView {
    /// The workspace.
    pub files: PathBuf,
    /// Their home directory.
    pub home: PathBuf,
    /// Their directory for temporary files.
    pub temporary: PathBuf,
}

impl WorkspaceView {
    /// The view of a workspace on this machine.
    #[must_use]
    pub fn of(workspace: &ChildWorkspace, capabilities: &Capabilities) -> Self {
        Self::within(workspace, mechanism(capabilities))
    }

    pub(crate) fn within(workspace: &ChildWorkspace, mechanism: Option<SandboxMechanism>) -> Self {
        match mechanism {
            Some(SandboxMechanism::Namespaces) => {
                Self { files: WORKSPACE.into(), home: HOME.into(), temporary: "/tmp".into() }
            }
            // Neither can show anything at another path.
            Some(SandboxMechanism::Landlock) | None => Self {
                files: workspace.files.clone(),
                home: workspace.home.clone(),
                temporary: workspace.home.join("tmp"),
            },
        }
    }

    /// A path of the workspace, which no `..` leaves.
    fn below(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let relative = path.strip_prefix(&self.files).or_else(|_| path.strip_prefix(WORKSPACE)).unwrap_or(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        relative.components().all(plain).then(|| {
            let mut whole = self.files.clone();
            whole.extend(relative.components().filter(|part| matches!(part, Component::Normal(_))));
            whole
        })
    }
}

/// The mechanism that contains children here, as the contract calls it.
#[must_use]
pub fn mechanism_word(capabilities: &Capabilities) -> process::Containment {
    match mechanism(capabilities) {
        Some(SandboxMechanism::Namespaces) => process::Containment::Namespaces,
        Some(SandboxMechanism::Landlock) => process::Containment::Landlock,
        None => process::Containment::None,
    }
}

/// Why no child can start here under this grant, for people; none where one can.
#[must_use]
pub fn refusal(grant: &GrantedChildren<'_>, capabilities: &Capabilities) -> Option<String> {
    let missing = capabilities.containment.as_ref().err()?;
    is_required(grant, capabilities).then(|| missing.to_string())
}

/// Whether only contained children may start.
fn is_required(grant: &GrantedChildren<'_>, capabilities: &Capabilities) -> bool {
    grant.requires_containment() || capabilities.namespaces_required
}

fn mechanism(capabilities: &Capabilities) -> Option<SandboxMechanism> {
    capabilities.containment.as_ref().ok().copied()
}

/// Plans a child for a request.
///
/// # Errors
/// [`PolicyError::Invalid`] for a malformed request, [`PolicyError::Refused`] for a
/// variable that is not granted.
pub fn plan(
    grant: &GrantedChildren<'_>,
    workspace: &ChildWorkspace,
    request: &CommandRequest<'_>,
    capabilities: &Capabilities,
    limits: &ProcessLimits,
) -> Result<SpawnPlan, PolicyError> {
    let mechanism = mechanism(capabilities);
    let view = WorkspaceView::of(workspace, capabilities);
    let own = own_environment(grant, &view, request.terminal);
    // The search path is taken before the plugin's variables, which must not choose a program.
    let path = own.get("PATH").cloned().unwrap_or_default();
    let environment = environment(grant, own, request.environment)?;
    let directory = view.below(request.directory).ok_or_else(|| {
        invalid(format!("`{}` is no directory of the workspace; give a path relative to it", request.directory))
    })?;
    let stand_in = request.stand_in.as_ref();
    let (program, arguments, command) = match (request.command.program(), request.command.shell_text()) {
        (Some(program), _) => {
            let played = stand_in.map(|stand_in| Ok(stand_in.program.clone()));
            let path = played.unwrap_or_else(|| find(program, &path, &view, || lookup(grant, workspace, mechanism)))?;
            let command = std::iter::once(program).chain(request.arguments.iter().map(String::as_str));
            (path, request.arguments.iter().map(OsString::from).collect(), command.collect::<Vec<_>>().join(" "))
        }
        (None, text) => {
            let (shell, arguments) = system::shell(text);
            let name = || shell.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let command = text.map_or_else(name, str::to_owned);
            (stand_in.map_or(shell, |stand_in| stand_in.program.clone()), arguments, command)
        }
    };
    // The command that people and plugins see stays the one that was asked for.
    let arguments = stand_in.map_or(arguments, |stand_in| stand_in.arguments.clone());
    let mut containment = containment(grant, workspace, &view, capabilities);
    if let (Containment::Required(sandbox), Some(stand_in)) = (&mut containment, stand_in) {
        sandbox.readable.extend(stand_in.readable.iter().map(Bind::same));
    }
    Ok(SpawnPlan {
        program,
        arguments,
        environment: environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        directory,
        command,
        limits: enforced(limits, capabilities),
        user: workspace.user.filter(|_| matches!(containment, Containment::Required(_))),
        containment,
    })
}

/// The limits of a child: none where the system enforces none, and the operator has given
/// up containment knowing that.
fn enforced(limits: &ProcessLimits, capabilities: &Capabilities) -> ChildLimits {
    if capabilities.process_limit == ProcessLimitScope::Nothing {
        return ChildLimits::default();
    }
    ChildLimits {
        cpu_seconds: Some(limits.cpu_seconds),
        memory_bytes: Some(limits.memory_bytes),
        tree_memory_bytes: None,
        open_files: Some(limits.open_files),
        processes: Some(limits.processes),
        file_size_bytes: Some(limits.file_size_bytes),
    }
}

/// Requires containment even where no mechanism works, if the grant or the operator
/// requires it: the spawner, which knows what is missing, then refuses the request.
fn containment(
    grant: &GrantedChildren<'_>,
    workspace: &ChildWorkspace,
    view: &WorkspaceView,
    capabilities: &Capabilities,
) -> Containment {
    if mechanism(capabilities).is_none() && !is_required(grant, capabilities) {
        return Containment::None;
    }
    Containment::Required(Sandbox {
        writable: vec![
            Bind { source: workspace.files.clone(), target: view.files.clone() },
            Bind { source: workspace.home.clone(), target: view.home.clone() },
        ],
        readable: grant.readable().iter().map(Bind::same).collect(),
        network: grant.network(),
    })
}

/// The variables of every child, and those that it inherits from the host.
fn own_environment(grant: &GrantedChildren<'_>, view: &WorkspaceView, terminal: &str) -> BTreeMap<String, OsString> {
    let own = system::variables(view).into_iter().chain([("TERM", terminal.into())]);
    let mut environment: BTreeMap<String, OsString> = own.map(|(name, value)| (name.to_owned(), value)).collect();
    for name in grant.inherited_environment() {
        if let Some(value) = std::env::var_os(name) {
            environment.insert(name.clone(), value);
        }
    }
    environment
}

fn environment(
    grant: &GrantedChildren<'_>,
    mut environment: BTreeMap<String, OsString>,
    variables: &[(String, String)],
) -> Result<BTreeMap<String, OsString>, PolicyError> {
    if variables.len() > MAX_VARIABLES {
        return Err(invalid(format!("{} variables are more than {MAX_VARIABLES}", variables.len())));
    }
    for (name, value) in variables {
        grant.variable(name).map_err(|source| PolicyError::Refused { source })?;
        environment.insert(name.clone(), value.into());
    }
    Ok(environment)
}

/// The path of a program, as the child sees it.
fn find(
    program: &str,
    path: &OsString,
    view: &WorkspaceView,
    lookup: impl FnOnce() -> Lookup,
) -> Result<PathBuf, PolicyError> {
    if program.contains(is_separator) {
        // A path outside of the workspace is one of the system.
        let below = view.below(program).filter(|_| !program.starts_with('/') || program.starts_with(WORKSPACE));
        return match below {
            Some(path) => Ok(path),
            None if Path::new(program).is_absolute() && !program.split(is_separator).any(|part| part == "..") => {
                Ok(program.into())
            }
            None => Err(invalid(format!("`{program}` is no path of a program: leave out `..`"))),
        };
    }
    lookup().find(program, path).ok_or_else(|| {
        invalid(format!(
            "there is no program `{program}` in {} that a program may be started from by its name; give its path",
            path.to_string_lossy()
        ))
    })
}

/// Looks programs up in directories that the child sees and in which no guest can write.
fn lookup(grant: &GrantedChildren<'_>, workspace: &ChildWorkspace, mechanism: Option<SandboxMechanism>) -> Lookup {
    let system = system_paths::SYSTEM.iter().chain(&system_paths::DIRECTORIES_OF_SETTINGS).map(PathBuf::from);
    let guests = [&workspace.files, &workspace.home].into_iter().map(PathBuf::from);
    Lookup {
        shown: mechanism.map(|_| system.chain(grant.readable().iter().cloned()).collect()),
        writable: guests.chain(grant.writable_folders().map(PathBuf::from)).collect(),
    }
}

#[cfg(test)]
mod tests;
