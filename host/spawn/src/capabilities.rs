//! What this machine offers for containing and limiting children, in words for
//! people.
//!
//! Knows nothing of what a request asks for.

use std::{fmt, fs, path::Path};

use rustix::{
    fs::{Access, access},
    process::{PidfdFlags, geteuid, getpid, pidfd_open},
};

/// What was found, once, at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// A program really ran in bubblewrap; if not, why.
    pub bubblewrap: Result<(), String>,
    /// Users may make user namespaces.
    pub user_namespaces: bool,
    /// The kernel has seccomp filters.
    pub seccomp: bool,
    /// Processes can be watched by descriptor.
    pub pidfd: bool,
    /// The host may make groups below its own in the unified hierarchy.
    pub cgroup: bool,
    /// The limit on the number of processes holds outside of the sandbox: the
    /// system does not apply it to root.
    pub process_limit: bool,
}

impl Capabilities {
    /// All but what only a trial can tell.
    pub(crate) fn of_the_system() -> Self {
        Self {
            bubblewrap: Err("it was not tried".into()),
            user_namespaces: number("/proc/sys/user/max_user_namespaces") > 0
                && fs::read_to_string("/proc/sys/kernel/unprivileged_userns_clone").map_or(true, |on| on.trim() == "1"),
            seccomp: Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
            pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
            cgroup: own_group().is_some_and(|group| access(&group, Access::WRITE_OK).is_ok()),
            process_limit: !geteuid().is_root(),
        }
    }
}

fn number(path: &str) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The folder of the host's group in the unified hierarchy.
fn own_group() -> Option<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let place = words.next()?;
        (words.next()? == "cgroup2").then_some(place)
    })?;
    Some(format!("{mount}{own}"))
}

impl fmt::Display for Capabilities {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bubblewrap {
            Ok(()) => writeln!(formatter, "containment: bubblewrap works")?,
            Err(missing) => writeln!(formatter, "containment: none, {missing}")?,
        }
        let word = |there| if there { "yes" } else { "no" };
        writeln!(formatter, "user namespaces: {}", word(self.user_namespaces))?;
        writeln!(formatter, "seccomp filters: {}", word(self.seccomp))?;
        writeln!(formatter, "process descriptors: {}", word(self.pidfd))?;
        writeln!(formatter, "writable control groups: {}", word(self.cgroup))?;
        write!(formatter, "limit on processes: {}", if self.process_limit { "yes" } else { "no, the host is root" })
    }
}
