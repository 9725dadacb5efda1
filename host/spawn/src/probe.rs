//! Trials of the mechanisms of this machine, in a workspace such as children of sessions
//! have.
//!
//! Knows nothing of how children are started: the spawner runs the trials.

use std::{fmt, fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use rustix::process::{PidfdFlags, geteuid, getpid, pidfd_open};
use wharf_core::text::for_shell;

use crate::{
    Bind, Capabilities, ChildExit, ChildInput, ChildLimits, ChildOutput, ChildWorkspace, Containment, MissingAbility,
    ProbeWorkspace, ProcessLimitScope, Sandbox, SandboxMechanism, SpawnRequest, landlock, policy::WorkspaceView,
    supervisor::ControlGroups,
};

/// Some user who is not root: root's children may run as any.
const ANOTHER_USER: u32 = 65534;

/// The trial in a workspace: writes there, uses the null device, and
/// finds its home by its path. `true` and not `:`, whose failure would end it.
const IN_A_WORKSPACE: &str = "true > probe || exit 3; true < /dev/null > /dev/null || exit 4; \
                              cd \"$HOME\" && true > tmp/probe || exit 5";
const NOT_WRITTEN: i32 = 3;
const NO_NULL: i32 = 4;
const NO_HOME: i32 = 5;

/// Makes workspaces for probes.
#[derive(Clone)]
pub(crate) struct ProbeWorkspaces(pub(crate) Arc<dyn Fn() -> io::Result<ProbeWorkspace> + Send + Sync>);

impl fmt::Debug for ProbeWorkspaces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ProbeWorkspaces")
    }
}

/// A program that shows by its end whether a mechanism contains it as it should.
#[derive(Debug)]
pub(crate) struct ContainmentTrial {
    pub(crate) request: SpawnRequest,
    workspace: Option<ChildWorkspace>,
}

/// The outcome of a trial.
#[derive(Debug)]
pub(crate) enum TrialOutcome {
    /// The mechanism works.
    Passed,
    /// It works, with this exception.
    Partial(String),
    /// It does not work, for this reason.
    Failed(String),
}

impl ContainmentTrial {
    /// A trial for each user that children may be, without a workspace.
    pub(crate) fn plain() -> impl Iterator<Item = Self> {
        let users = [Some(None), geteuid().is_root().then_some(Some(ANOTHER_USER))];
        users.into_iter().flatten().map(|user| {
            let sandbox = Containment::Required(Sandbox::default());
            Self { request: request("/bin/true", &[], "/".as_ref(), Vec::new(), sandbox, user), workspace: None }
        })
    }

    /// A trial in a workspace.
    pub(crate) fn within(workspace: &ChildWorkspace, mechanism: SandboxMechanism) -> Self {
        let view = WorkspaceView::within(workspace, Some(mechanism));
        let bind = |source: &Path, target: &Path| Bind { source: source.to_owned(), target: target.to_owned() };
        let writable = vec![bind(&workspace.files, &view.files), bind(&workspace.home, &view.home)];
        let sandbox = Containment::Required(Sandbox { writable, ..Sandbox::default() });
        let environment = vec![("HOME".into(), view.home.into_os_string()), ("PATH".into(), "/usr/bin:/bin".into())];
        let request = request("/bin/sh", &["-c", IN_A_WORKSPACE], &view.files, environment, sandbox, workspace.user);
        Self { request, workspace: Some(workspace.clone()) }
    }

    /// The outcome that the end of a trial shows.
    pub(crate) fn outcome(
        workspace: Option<&ChildWorkspace>,
        mechanism: SandboxMechanism,
        exit: ChildExit,
    ) -> TrialOutcome {
        match (exit, workspace) {
            (ChildExit::Exited { code: 0 }, _) => TrialOutcome::Passed,
            (ChildExit::Exited { code: NOT_WRITTEN }, Some(_)) => {
                TrialOutcome::Failed("does not let programs write in their workspace".into())
            }
            (ChildExit::Exited { code: NO_NULL }, Some(_)) => {
                TrialOutcome::Failed("has no null device for programs".into())
            }
            (ChildExit::Exited { code: NO_HOME }, Some(workspace)) if mechanism == SandboxMechanism::Landlock => {
                TrialOutcome::Partial(no_way(workspace))
            }
            (ChildExit::Exited { .. } | ChildExit::Signaled { .. }, _) => {
                TrialOutcome::Failed("does not end programs as they end outside".into())
            }
        }
    }

    pub(crate) fn workspace(&self) -> Option<&ChildWorkspace> {
        self.workspace.as_ref()
    }
}

/// The warning that a directory above the workspace is closed to the user of programs:
/// Landlock shows every file at its own path.
fn no_way(workspace: &ChildWorkspace) -> String {
    let closed = workspace.home.ancestors().skip(1).filter(|above| {
        fs::metadata(above).is_ok_and(|about| about.mode() & 0o001 == 0 && Some(about.uid()) != workspace.user)
    });
    // The outermost first, as one opens them.
    let mut names: Vec<_> = closed.map(|above| above.display().to_string()).collect();
    names.reverse();
    let (closed, remedy) = if names.is_empty() {
        ("a directory above it".to_owned(), "open it to them with `chmod o+x`".to_owned())
    } else {
        let words: Vec<_> = names.iter().map(|name| for_shell(name)).collect();
        (names.join(" and "), format!("`chmod o+x {}` lets them pass, and list nothing", words.join(" ")))
    };
    format!(
        "programs start in their workspace, and reach neither it nor their home by its path: other users may not pass \
         {closed}; {remedy}"
    )
}

fn request(
    program: &str,
    arguments: &[&str],
    directory: &Path,
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    containment: Containment,
    user: Option<u32>,
) -> SpawnRequest {
    SpawnRequest {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment,
        working_directory: directory.to_owned(),
        stdin: ChildInput::Null,
        stdout: ChildOutput::Null,
        stderr: ChildOutput::Null,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment,
        user,
    }
}

/// All abilities of this machine, with the outcome of the trials.
pub(crate) fn capabilities(
    containment: Result<SandboxMechanism, MissingAbility>,
    namespaces: Result<(), MissingAbility>,
) -> Capabilities {
    let groups = ControlGroups::find();
    let root = geteuid().is_root();
    let process_limit = match containment {
        _ if groups.bound_processes() => ProcessLimitScope::Tree,
        Ok(SandboxMechanism::Namespaces) if root => ProcessLimitScope::TreeOfAnotherUser,
        Ok(SandboxMechanism::Namespaces) => ProcessLimitScope::Tree,
        Ok(SandboxMechanism::Landlock) | Err(_) => ProcessLimitScope::User,
    };
    Capabilities {
        containment,
        namespaces,
        landlock: landlock::offered(),
        landlock_version: landlock::version(),
        another_user: root,
        process_limit,
        memory_of_trees: groups.bound_memory(),
        user_namespaces: number("/proc/sys/user/max_user_namespaces") > 0
            && fs::read_to_string("/proc/sys/kernel/unprivileged_userns_clone").map_or(true, |on| on.trim() == "1"),
        seccomp: Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
        pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
        namespaces_required: false,
        settled: true,
        warnings: Vec::new(),
    }
}

fn number(path: &str) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
