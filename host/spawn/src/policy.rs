//! From what was granted to what is started: which program, what it sees, in
//! what environment, and what it may use up.
//!
//! Owns the answer to "what does a child of a session have?", the same for
//! processes and for terminals. It never knows which call asked, and starts
//! nothing itself.

mod lookup;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use wharf_contract::process;
use wharf_core::{
    Code, Error, ProcessLimits,
    grant::{AllowedCommand, GrantedChildren},
};

use crate::{Bind, Capabilities, Contained, Containment, Limits, Sandbox, sandbox};
use lookup::Lookup;

/// The workspace where the sandbox can say how paths are seen.
const WORKSPACE: &str = "/workspace";
/// The home directory there.
const HOME: &str = "/home/wharf";
/// Where programs are looked for, unless the operator has the host's own
/// `PATH` taken over.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables of one request.
const MAX_VARIABLES: usize = 1_000;

/// Where the children of a session run.
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
pub struct Asked<'a> {
    /// The program, or what is for a shell.
    pub command: AllowedCommand<'a>,
    /// Arguments of the program.
    pub arguments: &'a [String],
    /// Where it starts: below the workspace, relative to it or as it is shown;
    /// empty for the workspace.
    pub directory: &'a str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'a [(String, String)],
    /// The terminal that it is told of, as `TERM` says it.
    pub terminal: &'a str,
}

/// What follows from that: all of a request but its streams.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Absolute path of the program, as the child sees it.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts, as the child sees it.
    pub directory: PathBuf,
    /// What it is, as a person would write it.
    pub command: String,
    /// What it may use up.
    pub limits: Limits,
    /// The user that it is, where it is not the host's own.
    pub user: Option<u32>,
    /// What it may reach.
    pub containment: Containment,
}

/// Why a request cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It makes no sense here.
    #[error("{problem}")]
    Invalid {
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// It asks for what was not granted.
    #[error("{}", source.message)]
    Refused {
        /// In the words of the grant.
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

/// How children see their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The workspace.
    pub files: PathBuf,
    /// Their home directory.
    pub home: PathBuf,
    /// Where they put what nobody keeps.
    pub temporary: PathBuf,
}

impl View {
    /// How a place is seen here.
    #[must_use]
    pub fn of(place: &Place, capabilities: &Capabilities) -> Self {
        Self::within(place, contained(capabilities))
    }

    pub(crate) fn within(place: &Place, contained: Option<Contained>) -> Self {
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

/// What contains children here, in a word of the contract.
#[must_use]
pub fn word(capabilities: &Capabilities) -> process::Containment {
    match contained(capabilities) {
        Some(Contained::Bubblewrap) => process::Containment::Bubblewrap,
        Some(Contained::Landlock) => process::Containment::Landlock,
        None => process::Containment::None,
    }
}

/// Why nothing can be started here under this grant, for people; nothing where it can.
#[must_use]
pub fn refused(grant: &GrantedChildren<'_>, capabilities: &Capabilities) -> Option<String> {
    let missing = capabilities.containment.as_ref().err()?;
    is_required(grant, capabilities).then(|| missing.clone())
}

/// Whether only what is contained is started.
fn is_required(grant: &GrantedChildren<'_>, capabilities: &Capabilities) -> bool {
    grant.requires_containment() || capabilities.bubblewrap_required
}

fn contained(capabilities: &Capabilities) -> Option<Contained> {
    capabilities.containment.as_ref().ok().copied()
}

/// Says what is to be started.
///
/// # Errors
/// [`PolicyError::Invalid`] for what cannot be, [`PolicyError::Refused`] for a
/// variable that is not granted.
pub fn plan(
    grant: &GrantedChildren<'_>,
    place: &Place,
    asked: &Asked<'_>,
    capabilities: &Capabilities,
    limits: &ProcessLimits,
) -> Result<Plan, PolicyError> {
    let contained = contained(capabilities);
    let view = View::of(place, capabilities);
    let own = own_environment(grant, &view, asked.terminal);
    // Looked for before the plugin's variables: they choose no program.
    let path = own.get("PATH").cloned().unwrap_or_default();
    let environment = environment(grant, own, asked.environment)?;
    let directory = view.below(asked.directory).ok_or_else(|| {
        invalid(format!("`{}` is no directory of the workspace; give a path relative to it", asked.directory))
    })?;
    let (program, arguments, command) = match (asked.command.program(), asked.command.shell_text()) {
        (Some(program), _) => {
            let path = find(program, &path, &view, || lookup(grant, place, contained))?;
            let command = std::iter::once(program).chain(asked.arguments.iter().map(String::as_str));
            (path, asked.arguments.iter().map(OsString::from).collect(), command.collect::<Vec<_>>().join(" "))
        }
        (None, Some(text)) => (shell(), vec!["-c".into(), text.into()], text.to_owned()),
        (None, None) => {
            let shell = shell();
            let name = shell.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (shell, vec!["-i".into()], name)
        }
    };
    let containment = containment(grant, place, &view, capabilities);
    Ok(Plan {
        program,
        arguments,
        environment: environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        directory,
        command,
        limits: Limits {
            cpu_seconds: Some(limits.cpu_seconds),
            memory_bytes: Some(limits.memory_bytes),
            open_files: Some(limits.open_files),
            processes: Some(limits.processes),
            file_size_bytes: Some(limits.file_size_bytes),
        },
        user: place.user.filter(|_| matches!(containment, Containment::Required(_))),
        containment,
    })
}

/// Where nothing contains, a grant that requires it is refused by the spawner,
/// which knows what is missing; and whatever the grant says, where the operator
/// requires a containment of the whole host.
fn containment(grant: &GrantedChildren<'_>, place: &Place, view: &View, capabilities: &Capabilities) -> Containment {
    if contained(capabilities).is_none() && !is_required(grant, capabilities) {
        return Containment::None;
    }
    Containment::Required(Sandbox {
        writable: vec![
            Bind { source: place.files.clone(), target: view.files.clone() },
            Bind { source: place.home.clone(), target: view.home.clone() },
        ],
        readable: grant.readable().iter().map(Bind::same).collect(),
        network: grant.network(),
    })
}

/// What every child has, and what is taken over from the host.
fn own_environment(grant: &GrantedChildren<'_>, view: &View, terminal: &str) -> BTreeMap<String, OsString> {
    let mut environment: BTreeMap<String, OsString> = [
        ("PATH", PATH.into()),
        ("HOME", view.home.clone().into_os_string()),
        ("TMPDIR", view.temporary.clone().into_os_string()),
        ("LANG", "C.UTF-8".into()),
        ("TERM", terminal.into()),
    ]
    .map(|(name, value): (&str, OsString)| (name.to_owned(), value))
    .into();
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
    wanted: &[(String, String)],
) -> Result<BTreeMap<String, OsString>, PolicyError> {
    if wanted.len() > MAX_VARIABLES {
        return Err(invalid(format!("{} variables are more than {MAX_VARIABLES}", wanted.len())));
    }
    for (name, value) in wanted {
        grant.variable(name).map_err(|source| PolicyError::Refused { source })?;
        environment.insert(name.clone(), value.into());
    }
    Ok(environment)
}

fn shell() -> PathBuf {
    let bash = Path::new("/bin/bash");
    if bash.exists() { bash.to_owned() } else { PathBuf::from("/bin/sh") }
}

/// The path of a program, as the child sees it.
fn find(program: &str, path: &OsString, view: &View, lookup: impl FnOnce() -> Lookup) -> Result<PathBuf, PolicyError> {
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
    lookup().find(program, path).ok_or_else(|| {
        invalid(format!(
            "there is no program `{program}` in {} that a program may be started from by its name; give its path",
            path.to_string_lossy()
        ))
    })
}

/// Where programs are that the child is shown, and no guest can put one.
fn lookup(grant: &GrantedChildren<'_>, place: &Place, contained: Option<Contained>) -> Lookup {
    let system = sandbox::SYSTEM.iter().chain(&sandbox::DIRECTORIES_OF_SETTINGS).map(PathBuf::from);
    let guests = [&place.files, &place.home].into_iter().map(PathBuf::from);
    Lookup {
        shown: contained.map(|_| system.chain(grant.readable().iter().cloned()).collect()),
        writable: guests.chain(grant.writable_folders().map(PathBuf::from)).collect(),
    }
}

#[cfg(test)]
mod tests;
