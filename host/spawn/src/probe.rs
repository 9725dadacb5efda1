//! Finds out what this machine offers, in a place such as children of sessions
//! have.
//!
//! Knows nothing of how children are started: whoever asks does that.

use std::{any::Any, fmt, fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use rustix::process::{PidfdFlags, geteuid, getpid, pidfd_open};
use wharf_core::text::for_shell;

use crate::{
    Bind, Capabilities, Contained, Containment, Exit, Input, Limits, Output, ProcessLimit, Sandbox, SpawnRequest,
    landlock,
    policy::{Place, View},
    supervisor::Groups,
};

/// Some user who is not root: root's children may run as any.
const ANOTHER_USER: u32 = 65534;

/// What is run in the place of a session: writes there, uses the null device, and
/// finds its home by its path. `true` and not `:`, whose failure would end it.
const IN_A_PLACE: &str = "true > probe || exit 3; true < /dev/null > /dev/null || exit 4; \
                          cd \"$HOME\" && true > tmp/probe || exit 5";
const NOT_WRITTEN: i32 = 3;
const NO_NULL: i32 = 4;
const NO_HOME: i32 = 5;

/// A place that is made for a probe as those of sessions are.
pub struct ProbePlace {
    /// Where it is.
    pub place: Place,
    /// Removes it when it is dropped.
    pub guard: Box<dyn Any + Send>,
}

impl fmt::Debug for ProbePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ProbePlace").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Makes places for probes.
#[derive(Clone)]
pub(crate) struct Places(pub(crate) Arc<dyn Fn() -> io::Result<ProbePlace> + Send + Sync>);

impl fmt::Debug for Places {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Places")
    }
}

/// A program that shows by its end whether something contains it as it should.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) request: SpawnRequest,
    place: Option<Place>,
}

/// What a trial has shown.
#[derive(Debug)]
pub(crate) enum Shown {
    /// All is well.
    Well,
    /// It works, but for this.
    InPart(String),
    /// It does not.
    Broken(String),
}

impl Trial {
    /// One for each user that children may be, without a place.
    pub(crate) fn plain() -> impl Iterator<Item = Self> {
        let users = [Some(None), geteuid().is_root().then_some(Some(ANOTHER_USER))];
        users.into_iter().flatten().map(|user| {
            let sandbox = Containment::Required(Sandbox::default());
            Self { request: request("/bin/true", &[], "/".as_ref(), Vec::new(), sandbox, user), place: None }
        })
    }

    /// One in the place of a session.
    pub(crate) fn within(place: &Place, contained: Contained) -> Self {
        let view = View::within(place, Some(contained));
        let bind = |source: &Path, target: &Path| Bind { source: source.to_owned(), target: target.to_owned() };
        let writable = vec![bind(&place.files, &view.files), bind(&place.home, &view.home)];
        let sandbox = Containment::Required(Sandbox { writable, ..Sandbox::default() });
        let environment = vec![("HOME".into(), view.home.into_os_string()), ("PATH".into(), "/usr/bin:/bin".into())];
        let request = request("/bin/sh", &["-c", IN_A_PLACE], &view.files, environment, sandbox, place.user);
        Self { request, place: Some(place.clone()) }
    }

    /// What its end says.
    pub(crate) fn shown(place: Option<&Place>, contained: Contained, exit: Exit) -> Shown {
        match (exit, place) {
            (Exit::Exited { code: 0 }, _) => Shown::Well,
            (Exit::Exited { code: NOT_WRITTEN }, Some(_)) => {
                Shown::Broken("does not let programs write in their workspace".into())
            }
            (Exit::Exited { code: NO_NULL }, Some(_)) => Shown::Broken("has no null device for programs".into()),
            (Exit::Exited { code: NO_HOME }, Some(place)) if contained == Contained::Landlock => {
                Shown::InPart(no_way(place))
            }
            (Exit::Exited { .. } | Exit::Signaled { .. }, _) => {
                Shown::Broken("does not end programs as they end outside".into())
            }
        }
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}

/// Landlock shows everything at its own path, and a directory above may be closed
/// to the user that programs are.
fn no_way(place: &Place) -> String {
    let closed = place.home.ancestors().skip(1).filter(|above| {
        fs::metadata(above).is_ok_and(|about| about.mode() & 0o001 == 0 && Some(about.uid()) != place.user)
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
        stdin: Input::Null,
        stdout: Output::Null,
        stderr: Output::Null,
        descriptors: Vec::new(),
        limits: Limits::default(),
        containment,
        user,
    }
}

/// All there is to know, with what trying to contain a program has shown.
pub(crate) fn capabilities(containment: Result<Contained, String>, bubblewrap: Result<(), String>) -> Capabilities {
    let groups = Groups::find();
    let root = geteuid().is_root();
    let process_limit = match containment {
        _ if groups.bound_processes() => ProcessLimit::Tree,
        Ok(Contained::Bubblewrap) if root => ProcessLimit::TreeOfAnotherUser,
        Ok(Contained::Bubblewrap) => ProcessLimit::Tree,
        Ok(Contained::Landlock) | Err(_) => ProcessLimit::User,
    };
    Capabilities {
        containment,
        bubblewrap,
        bubblewrap_is_there: false,
        landlock: landlock::offered(),
        another_user: root,
        process_limit,
        memory_of_trees: groups.bound_memory(),
        user_namespaces: number("/proc/sys/user/max_user_namespaces") > 0
            && fs::read_to_string("/proc/sys/kernel/unprivileged_userns_clone").map_or(true, |on| on.trim() == "1"),
        seccomp: Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
        pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
        bubblewrap_required: false,
        settled: true,
        warnings: Vec::new(),
    }
}

fn number(path: &str) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
