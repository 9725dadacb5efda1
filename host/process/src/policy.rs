//! From what was granted to what is started: which program, what it sees, in
//! what environment, and what it may use up.
//!
//! Owns the answer to "what does a process of a session have?". It never knows
//! which call asked, and starts nothing itself.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use wharf_core::{
    Context, ProcessLimits,
    grant::{AllowedCommand, GrantedProcess, ProcessGrant},
};
use wharf_spawn::{Bind, Contained, Containment, Limits, Sandbox};

use crate::{Capabilities, ProcessError, ProcessId, Processes, SpawnRequest};

/// The workspace where the sandbox can say how paths are seen.
const WORKSPACE: &str = "/workspace";
/// The home directory there.
const HOME: &str = "/home/wharf";
/// Where programs are looked for, unless the operator has the host's own
/// `PATH` taken over.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What every sandbox shows of the system's programs.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
/// Variables of one request.
const MAX_VARIABLES: usize = 1_000;

/// Where the processes of a session run.
#[derive(Debug, Clone)]
pub struct Place {
    /// The workspace.
    pub files: PathBuf,
    /// Their home directory, with a directory `tmp` in it.
    pub home: PathBuf,
    /// The user that they are, where it is not the host's own.
    pub user: Option<u32>,
}

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
    /// Why there is none, if the operator did not give it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Whether processes have the host's network.
    pub network: bool,
    /// The workspace as processes see it.
    pub directory: PathBuf,
    /// Processes that a session may have at once.
    pub maximum_concurrent: u64,
    /// How long one may run.
    pub lifetime_seconds: u64,
}

/// How a child sees its place.
struct View {
    files: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl View {
    fn of(place: &Place, contained: Option<Contained>) -> Self {
        match contained {
            Some(Contained::Bubblewrap) => {
                Self { files: WORKSPACE.into(), home: HOME.into(), temporary: "/tmp".into() }
            }
            // Neither can show anything at another path.
            Some(Contained::Landlock) | None => {
                Self { files: place.files.clone(), home: place.home.clone(), temporary: place.home.join("tmp") }
            }
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

/// The name of what contains.
fn word(contained: Option<Contained>) -> &'static str {
    match contained {
        Some(Contained::Bubblewrap) => "bubblewrap",
        Some(Contained::Landlock) => "landlock",
        None => "none",
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
        place: &Place,
        wanted: Wanted<'_>,
    ) -> Result<ProcessId, ProcessError> {
        let capabilities = self.capabilities().await?;
        let request = request(granted, place, &wanted, &capabilities, self.limits())?;
        let most = usize::try_from(granted.grant().maximum_concurrent).unwrap_or(usize::MAX);
        self.spawn(&granted.owner(context), request, most).await
    }

    /// What holds for the processes of a plugin.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn standing(&self, granted: &GrantedProcess<'_>, place: &Place) -> Result<Standing, ProcessError> {
        let capabilities = self.capabilities().await?;
        let contained = capabilities.containment.as_ref().ok().copied();
        let ProcessGrant { shell, programs, network, maximum_concurrent, lifetime_seconds, .. } =
            granted.grant().clone();
        Ok(Standing {
            shell,
            programs,
            containment: word(contained),
            missing: capabilities.containment.as_ref().err().cloned(),
            network,
            directory: View::of(place, contained).files,
            maximum_concurrent,
            lifetime_seconds: lifetime_seconds.min(self.limits().lifetime_seconds),
        })
    }

    /// The workspace as processes see it.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn shown(&self, place: &Place) -> Result<PathBuf, ProcessError> {
        let capabilities = self.capabilities().await?;
        Ok(View::of(place, capabilities.containment.as_ref().ok().copied()).files)
    }
}

fn invalid(problem: String) -> ProcessError {
    ProcessError::Invalid { problem }
}

fn request(
    granted: &GrantedProcess<'_>,
    place: &Place,
    wanted: &Wanted<'_>,
    capabilities: &Capabilities,
    limits: &ProcessLimits,
) -> Result<SpawnRequest, ProcessError> {
    let grant = granted.grant();
    let contained = capabilities.containment.as_ref().ok().copied();
    let view = View::of(place, contained);
    let own = own_environment(grant, &view);
    // Looked for before the plugin's variables: they choose no program.
    let path = own.get("PATH").cloned().unwrap_or_default();
    let environment = environment(granted, own, wanted.environment)?;
    let directory = view.below(wanted.directory).ok_or_else(|| {
        invalid(format!("`{}` is no directory of the workspace; give a path relative to it", wanted.directory))
    })?;
    let (program, arguments, command) = match (wanted.command.program(), wanted.command.shell_text()) {
        (Some(program), _) => {
            let path = find(program, &path, &view, contained.map(|_| grant))?;
            let command = std::iter::once(program).chain(wanted.arguments.iter().map(String::as_str));
            (path, wanted.arguments.iter().map(OsString::from).collect(), command.collect::<Vec<_>>().join(" "))
        }
        (None, text) => {
            let text = text.unwrap_or_default();
            (shell(), vec!["-c".into(), text.into()], text.to_owned())
        }
    };
    Ok(SpawnRequest {
        program,
        arguments,
        environment: environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        directory,
        command,
        input: wanted.input,
        lifetime: Some(wanted.lifetime.unwrap_or(Duration::MAX).min(grant.lifetime())),
        silence: wanted.silence,
        limits: Limits {
            cpu_seconds: Some(limits.cpu_seconds),
            memory_bytes: Some(limits.memory_bytes),
            open_files: Some(limits.open_files),
            processes: Some(limits.processes),
            file_size_bytes: Some(limits.file_size_bytes),
        },
        user: place.user.filter(|_| contained.is_some()),
        containment: containment(grant, place, &view, contained),
    })
}

/// Where nothing contains, a grant that requires it is refused by the spawner,
/// which knows what is missing.
fn containment(grant: &ProcessGrant, place: &Place, view: &View, contained: Option<Contained>) -> Containment {
    if contained.is_none() && !grant.require_containment {
        return Containment::None;
    }
    Containment::Required(Sandbox {
        writable: vec![
            Bind { source: place.files.clone(), target: view.files.clone() },
            Bind { source: place.home.clone(), target: view.home.clone() },
        ],
        readable: grant.readable.iter().map(Bind::same).collect(),
        network: grant.network,
    })
}

/// What every process has, and what is taken over from the host.
fn own_environment(grant: &ProcessGrant, view: &View) -> BTreeMap<String, OsString> {
    let mut environment: BTreeMap<String, OsString> = [
        ("PATH", PATH.into()),
        ("HOME", view.home.clone().into_os_string()),
        ("TMPDIR", view.temporary.clone().into_os_string()),
        ("LANG", "C.UTF-8".into()),
        ("TERM", "dumb".into()),
    ]
    .map(|(name, value): (&str, OsString)| (name.to_owned(), value))
    .into();
    for name in &grant.inherited_environment {
        if let Some(value) = std::env::var_os(name) {
            environment.insert(name.clone(), value);
        }
    }
    environment
}

fn environment(
    granted: &GrantedProcess<'_>,
    mut environment: BTreeMap<String, OsString>,
    wanted: &[(String, String)],
) -> Result<BTreeMap<String, OsString>, ProcessError> {
    if wanted.len() > MAX_VARIABLES {
        return Err(invalid(format!("{} variables are more than {MAX_VARIABLES}", wanted.len())));
    }
    for (name, value) in wanted {
        granted.variable(name).map_err(|source| ProcessError::Refused { source })?;
        environment.insert(name.clone(), value.into());
    }
    Ok(environment)
}

fn shell() -> PathBuf {
    let bash = Path::new("/bin/bash");
    if bash.exists() { bash.to_owned() } else { PathBuf::from("/bin/sh") }
}

/// The path of a program, as the child sees it.
fn find(program: &str, path: &OsString, view: &View, sandbox: Option<&ProcessGrant>) -> Result<PathBuf, ProcessError> {
    if program.contains('/') {
        // What is not the workspace's is the system's, or there is nothing.
        let below = view.below(program).filter(|_| !program.starts_with('/') || program.starts_with(WORKSPACE));
        return match below {
            Some(path) => Ok(path),
            None if Path::new(program).is_absolute() && !program.split('/').any(|part| part == "..") => {
                Ok(program.into())
            }
            None => Err(invalid(format!("`{program}` is no path of a program: leave out `..`"))),
        };
    }
    let visible = |path: &Path| {
        sandbox.is_none_or(|grant| {
            SYSTEM.iter().any(|system| path.starts_with(system))
                || grant.readable.iter().any(|readable| path.starts_with(readable))
        })
    };
    let runs =
        |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    std::env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(|path| visible(path) && runs(path))
        .ok_or_else(|| invalid(format!("there is no program `{program}` in {}; give its path", path.to_string_lossy())))
}
