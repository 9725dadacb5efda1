//! The other side: this program, run as a supervisor.
//!
//! A library cannot bring an executable along: an app that depends on it gets
//! only code. So the host runs its own program again, with a hidden first
//! argument, and a function that runs before `main` recognises it: neither the
//! app nor a test has to call anything. The first such process is the root: it
//! has one thread and little memory, so it forks a supervisor for each child
//! in a fraction of the time that running a large program again would take.
//!
//! ```text
//! host ── root ─┬─ supervisor ── program ── …
//!               └─┆─ supervisor (first of its namespaces) ── program ── …
//! ```
//!
//! Every supervisor has a socket of its own to the host, whose end means that
//! the host is gone. The root adopts the processes that a killed supervisor leaves behind.
//!
//! Never runs in the host's own process.

mod confine;
mod contain;
mod groups;
mod launch;
mod root;
mod settings;
mod supervise;
mod system;
mod view;

use std::os::fd::{AsFd as _, OwnedFd};

pub(crate) use groups::ControlGroups;
pub(crate) use launch::seal;
pub(crate) use system::null;

/// The first argument that makes this program the root. No user types it.
pub(crate) const ROOT: &str = "wharf-supervisor:root";

/// The first argument that makes this program the keeper of a confined host: see `outside`.
pub(crate) const KEEPER: &str = "wharf-supervisor:keeper";

/// Decides, before `main`, whether this process is a supervisor. There is no other thread,
/// and the function uses only parts of the standard library that need no preparation.
#[ctor::ctor(unsafe)]
fn before_main() {
    match std::env::args_os().nth(1) {
        Some(role) if role == ROOT => root::run(control()),
        Some(role) if role == KEEPER => root::keep(control()),
        _ => {}
    }
}

/// The socket to the host, which a supervisor gets as standard input.
pub(crate) fn control() -> OwnedFd {
    let taken = std::io::stdin().as_fd().try_clone_to_owned();
    let Ok(control) = taken else { system::leave() };
    system::forget_streams();
    control
}
