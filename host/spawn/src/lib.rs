//! The one place of the host that starts children.
//!
//! Every child has a supervisor: a small process that stays its parent, counts
//! and ends its whole tree, descendants in sessions of their own included, and
//! does so by itself when the host is gone. Supervisors are this very program,
//! run again: any program that links this library can be one, so an app that embeds the
//! host has nothing to install, to find or to call (see `supervisor`).
//!
//! A request contains its child unless it says otherwise explicitly, and the spawner refuses
//! a request that this machine cannot contain.
//!
//! All of this is Linux. On other systems [`Spawner`] and [`Child`] start programs without a
//! supervisor, uncontained and unlimited, and refuse every request that asks for more (see
//! `elsewhere`).
//!
//! `policy` turns a grant into a request, once for all crates that have children. No other
//! module knows of grants, and none of tools, sessions or kept output: those belong to the
//! crates above.

mod capabilities;
pub mod confine;
mod error;
mod exit;
mod kernel;
mod pipes;
mod request;
mod stand_in;
mod system_paths;
mod tree_process;
#[cfg_attr(target_os = "linux", doc(hidden))]
pub mod uncontained;
mod workspace;

// Tests on Linux compile it too, so that it keeps up with the other files.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", expect(dead_code, unreachable_pub, reason = "Linux has a spawner of its own"))]
mod elsewhere;

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod lock_down;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(target_os = "linux")]
pub mod packet;
pub mod policy;
#[cfg(target_os = "linux")]
mod prepared;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod spawner;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod users;
#[cfg(target_os = "linux")]
mod wire;

pub use capabilities::{Capabilities, MissingAbility, ProcessLimitScope, SandboxMechanism};
pub use error::SpawnError;
pub use exit::{ChildEnd, ChildExit, signal_name};
pub use kernel::KernelFeature;
pub use pipes::{StdinPipe, StdoutPipe};
pub use request::{
    Bind, ChildInput, ChildLimits, ChildOutput, Containment, Descriptor, MAX_DESCRIPTOR_NUMBER, MAX_DESCRIPTORS,
    MAX_REQUEST_BYTES, Sandbox, SpawnRequest,
};
pub use stand_in::{StandIn, StandIns};
pub use tree_process::TreeProcess;
pub use workspace::{ChildWorkspace, ProbeWorkspace};

#[cfg(target_os = "linux")]
pub use child::Child;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Child, Spawner, lock_down};
#[cfg(target_os = "linux")]
pub use landlock::offers_landlock;
#[cfg(target_os = "linux")]
pub use lock_down::lock_down;
#[cfg(target_os = "linux")]
pub use outside::{OutsidePart, serve_outside};
#[cfg(target_os = "linux")]
pub use privileges::give_up_capabilities;
#[cfg(target_os = "linux")]
pub use spawner::Spawner;
/// What a child can be sent.
pub use wharf_contract::process::Signal;
