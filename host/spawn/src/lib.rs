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
//! Linux only: elsewhere the same types are there, and every request is refused.
//!
//! What a grant comes to for a child is decided in `policy`, once for all rooms
//! that have children. Nothing else here knows of grants, and nothing at all of
//! tools, sessions or output that is kept: that is for the rooms above.

mod capabilities;
#[cfg(target_os = "linux")]
mod child;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
mod exit;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod lock_down;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(target_os = "linux")]
pub mod policy;
#[cfg(target_os = "linux")]
mod probe;
mod request;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod spawner;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod users;
#[cfg(target_os = "linux")]
mod waiting;
#[cfg(target_os = "linux")]
mod wire;

pub use capabilities::{Capabilities, Contained, ProcessLimit};
#[cfg(target_os = "linux")]
pub use child::Child;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Child, Spawner, lock_down};
pub use error::SpawnError;
pub use exit::{Ended, Exit, signal_name};
#[cfg(target_os = "linux")]
pub use lock_down::lock_down;
#[cfg(target_os = "linux")]
pub use probe::ProbePlace;
pub use request::{
    Bind, Containment, Descriptor, Input, Limits, MAX_DESCRIPTOR_NUMBER, MAX_DESCRIPTORS, MAX_REQUEST_BYTES, Output,
    Sandbox, SpawnRequest,
};
#[cfg(target_os = "linux")]
pub use spawner::Spawner;
/// What a child can be sent.
pub use wharf_contract::process::Signal;
