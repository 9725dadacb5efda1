//! What a child gives up before it becomes its program: another user's rights,
//! capabilities, paths, system calls.
//!
//! Runs in the child, which has one thread.

use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt as _, path::Path};

use ::landlock::RulesetCreated;
use rustix::{
    process::{Gid, Uid},
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities,
        set_capabilities_secure_bits, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
    },
};

use crate::{
    filter::{self, Refused},
    landlock, sandbox, users,
    wire::{Confinement, Walls},
};

/// Becomes this user, with the group of the same number and no other.
pub(super) fn become_user(user: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    Ok(set_thread_res_uid(uid, uid, uid)?)
}

/// Walls that stand ready: what of them takes rights that the child is going to
/// give up is done.
pub(super) struct Ready {
    rules: Option<RulesetCreated>,
    refused: Option<Refused>,
}

/// Gets the walls ready before the child becomes another user: the way to what it
/// is to reach may be closed to that one. The terminal that standard input is, if
/// it is one, stays within reach.
pub(super) fn make_ready(walls: &Walls, user: Option<u32>, terminal: bool) -> io::Result<Ready> {
    Ok(match walls {
        Walls::None => Ready { rules: None, refused: None },
        Walls::Around => Ready { rules: None, refused: Some(Refused::InSandbox) },
        Walls::Landlock(confinement) => {
            // Root, and the host's own user, own more than the session's files.
            let own_user = user.is_some_and(|user| user != 0);
            let refused = Refused::BesideLandlock { network: confinement.network, own_user };
            Ready { rules: Some(reach_only(confinement, terminal)?), refused: Some(refused) }
        }
    })
}

impl Ready {
    /// Gives up what is outside of the walls; the last step but the program.
    pub(super) fn stay_inside(self) -> io::Result<()> {
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

/// Root without them is a user that owns much; it does not get them back with a
/// new program.
fn give_up_capabilities() -> io::Result<()> {
    set_no_new_privs(true)?;
    // Both only root can do, and only for root it means something.
    let bits = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    let _ = set_capabilities_secure_bits(bits);
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

fn reach_only(confinement: &Confinement, terminal: bool) -> io::Result<RulesetCreated> {
    let settings = sandbox::DIRECTORIES_OF_SETTINGS.iter().chain(&sandbox::SETTINGS);
    let system = sandbox::SYSTEM.iter().chain(settings).chain(&users::FILES).chain(&landlock::OF_THE_MACHINE);
    let system = system.map(|path| (Path::new(*path), false));
    let readable = confinement.readable.iter().map(|path| (path_of(path), true));
    landlock::rules(
        system.chain(readable),
        confinement.writable.iter().map(|path| path_of(path)),
        terminal.then(rustix::stdio::stdin),
        confinement.network,
    )
}

pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
