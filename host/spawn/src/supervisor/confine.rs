//! The rights that a child gives up before it becomes its program: its user's,
//! capabilities, paths, system calls.
//!
//! Runs in the child, which has one thread.

use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt as _, path::Path};

use ::landlock::{CompatLevel, RulesetCreated};
use rustix::{
    process::{Gid, Uid},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};

use crate::{
    filter::{self, SyscallFilter},
    landlock,
    privileges::give_up_capabilities,
    system_paths, users,
    wire::{Enclosure, LandlockRules},
};

/// Becomes this user, with the group of the same number and no other.
pub(super) fn become_user(user: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    Ok(set_thread_res_uid(uid, uid, uid)?)
}

/// An enclosure that is ready to enter: the steps are done for which the child
/// needs rights that it will give up.
pub(super) struct ReadyEnclosure {
    rules: Option<RulesetCreated>,
    refused: Option<SyscallFilter>,
}

/// Prepares the enclosure before the child becomes another user, who may not reach the paths
/// that the enclosure leaves open. A terminal as standard input stays within reach.
pub(super) fn prepare(enclosure: &Enclosure, user: Option<u32>, terminal: bool) -> io::Result<ReadyEnclosure> {
    Ok(match enclosure {
        Enclosure::None => ReadyEnclosure { rules: None, refused: None },
        Enclosure::Around(_) => ReadyEnclosure { rules: None, refused: Some(SyscallFilter::InSandbox) },
        Enclosure::Landlock(confinement) => {
            // Root and the host's own user own more than the session's files.
            let own_user = user.is_some_and(|user| user != 0);
            let refused = SyscallFilter::BesideLandlock { network: confinement.network, own_user };
            let rules = reach_only(confinement, terminal, CompatLevel::HardRequirement)?;
            ReadyEnclosure { rules: Some(rules), refused: Some(refused) }
        }
        Enclosure::Files(files) => {
            let rules = reach_only(files, terminal, CompatLevel::BestEffort)?;
            ReadyEnclosure { rules: Some(rules), refused: Some(SyscallFilter::AroundSandboxes) }
        }
    })
}

impl ReadyEnclosure {
    /// Gives up all outside of the enclosure; the last step before the program.
    pub(super) fn enter(self) -> io::Result<()> {
        if let Some(rules) = self.rules {
            give_up_capabilities()?;
            landlock::restrict(rules)?;
        }
        match self.refused {
            Some(refused) => seccompiler::apply_filter(&filter::program(refused)?).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

fn reach_only(confinement: &LandlockRules, terminal: bool, level: CompatLevel) -> io::Result<RulesetCreated> {
    let settings = system_paths::DIRECTORIES_OF_SETTINGS.iter().chain(&system_paths::SETTINGS);
    let system = system_paths::SYSTEM.iter().chain(settings).chain(&users::FILES).chain(&landlock::OF_THE_MACHINE);
    let system = system.map(|path| (Path::new(*path), false));
    let readable = confinement.readable.iter().map(|path| (path_of(path), true));
    landlock::rules(
        system.chain(readable),
        confinement.writable.iter().map(|path| path_of(path)),
        terminal.then(rustix::stdio::stdin),
        confinement.network,
        level,
    )
}

pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
