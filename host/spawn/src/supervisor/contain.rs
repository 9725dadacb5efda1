//! Turns a fresh fork of the root into the supervisor of a sandbox: namespaces of its own, the
//! child's view of the files, the child's user, and no capability.
//!
//! The supervisor is the first process of its namespace of processes: when it ends, the
//! system ends all others of it. Knows nothing of the child.

use std::{fs, io};

use rustix::{
    process::{DumpableBehavior, Signal, getegid, geteuid, set_dumpable_behavior, set_parent_process_death_signal},
    thread::UnshareFlags,
};

use super::{
    confine,
    launch::seal,
    settings::SystemSettings,
    system::{self, ForkSide},
    view::Tree,
};
use crate::{
    privileges::give_up_capabilities,
    wire::{SandboxFailure, SandboxView},
};

/// The user and group of a process, as the system outside of a sandbox numbers them.
#[derive(Clone, Copy)]
pub(super) struct Ids {
    uid: u32,
    gid: u32,
}

/// Forks this process into the namespaces of a sandbox. Its own ids come with it: the
/// new process cannot ask for them before they have numbers in its namespace.
pub(super) fn fork(network: bool) -> Result<(ForkSide, Ids), SandboxFailure> {
    let mut namespaces = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    if !network {
        // The child gets a loopback of its own, which local test servers need.
        namespaces |= UnshareFlags::NEWNET;
    }
    let own = Ids { uid: geteuid().as_raw(), gid: getegid().as_raw() };
    if own.uid != 0 {
        // Any user may make the others in a user namespace.
        namespaces |= UnshareFlags::NEWUSER;
    }
    match system::fork_into(namespaces) {
        Ok(side) => Ok((side, own)),
        Err(error) => Err(failure("the system makes no namespaces", &error)),
    }
}

/// A step that the system refused.
pub(super) fn failure(step: &str, error: &io::Error) -> SandboxFailure {
    // Limits of namespaces are said as a want of room.
    let refusals = [libc::EPERM, libc::EACCES, libc::ENOSPC, libc::EUSERS, libc::EINVAL, libc::ENOSYS];
    let forbidden = error.raw_os_error().is_some_and(|errno| refusals.contains(&errno));
    SandboxFailure { why: format!("{step}: {error}"), forbidden }
}

fn cannot<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> SandboxFailure {
    move |error| failure(&format!("cannot {step}"), &error.into())
}

/// A sandbox with all that every child has in it, which no child has entered yet.
pub(super) struct BlankSandbox {
    own: Ids,
    tree: Tree,
}

impl BlankSandbox {
    /// Makes it, in the fork. It may wait for its child: the host's files are still there
    /// for this process, which has no other one beside it yet.
    pub(super) fn make(own: Ids, network: bool, settings: &SystemSettings) -> Result<Self, SandboxFailure> {
        if own.uid != 0 {
            map(own).map_err(cannot("give the sandbox its user"))?;
        }
        if !network {
            system::start_loopback().map_err(cannot("start the sandbox's loopback"))?;
        }
        // Kernels without control groups have no such namespace, and nothing that it would hide.
        let _ = system::unshare(UnshareFlags::NEWCGROUP);
        Ok(Self { own, tree: Tree::begin(settings)? })
    }

    /// Gives the sandbox what one child has beside that, and leaves all outside of it for good.
    pub(super) fn enter(self, view: &SandboxView) -> Result<(), SandboxFailure> {
        let ids = view.user.map_or(self.own, |user| Ids { uid: user, gid: user });
        self.tree.enter(view, ids.uid, ids.gid)?;
        if let Some(user) = view.user {
            confine::become_user(user).map_err(cannot("become the sandbox's user"))?;
            // The system counts the processes of each user namespace by itself.
            system::unshare(UnshareFlags::NEWUSER).map_err(cannot("make a user namespace"))?;
            map(ids).map_err(cannot("give the sandbox its user"))?;
        }
        give_up_capabilities().map_err(cannot("give up capabilities"))?;
        // A change of the user undoes this.
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(cannot("bind the sandbox to its parent"))
    }
}

/// Gives this user and group their own numbers in this process's new user namespace, and no
/// other user or group any.
fn map(ids: Ids) -> io::Result<()> {
    // The system lets nobody write to the files of a process that is sealed.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", ids.uid))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", ids.gid))?;
    seal();
    Ok(())
}
