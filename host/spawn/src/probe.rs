//! Finds out what this machine offers.
//!
//! Knows nothing of how children are started: whoever asks has tried that.

use std::{fs, path::Path};

use rustix::process::{PidfdFlags, geteuid, getpid, pidfd_open};

use crate::{Capabilities, Contained, ProcessLimit, landlock, supervisor::Groups};

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
        landlock: landlock::offered(),
        another_user: root,
        process_limit,
        memory_of_trees: groups.bound_memory(),
        user_namespaces: number("/proc/sys/user/max_user_namespaces") > 0
            && fs::read_to_string("/proc/sys/kernel/unprivileged_userns_clone").map_or(true, |on| on.trim() == "1"),
        seccomp: Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
        pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
    }
}

fn number(path: &str) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
