//! The one place of the host that starts children.
//!
//! Every child has a supervisor: a small process that stays its parent, counts
//! and ends its whole tree, descendants in sessions of their own included, and
//! does so by itself when the host is gone. Supervisors are this very program,
//! run again: whatever links this library can be one, so an app that embeds the
//! host has nothing to install, to find or to call (see `supervisor`).
//!
//! A child is contained unless its request says otherwise in so many words, and
//! a request that cannot be contained on this machine is refused.
//!
//! Knows nothing of tools, sessions, grants or output that is kept: that is for
//! the rooms above.

#![cfg(target_os = "linux")]

mod capabilities;
mod child;
mod error;
mod packet;
mod request;
mod sandbox;
mod spawner;
mod supervisor;
mod wire;

pub use capabilities::Capabilities;
pub use child::{Child, Ended, Exit};
pub use error::SpawnError;
pub use request::{Containment, Input, Limits, MAX_REQUEST_BYTES, Output, Sandbox, Signal, SpawnRequest};
pub use spawner::Spawner;
