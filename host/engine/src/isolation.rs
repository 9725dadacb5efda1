//! Plugins in worker processes: each tenant's instances, or each plugin's of a tenant, run in a
//! process of their own, which can reach nothing but a socket to the host.
//!
//! A worker is this very program, run again. It compiles nothing, has no grant and no backend:
//! each function that its guest calls is called in the host, where `watch` counts it and the
//! adapter checks the grant, as for a guest in the host itself. So what breaks out of the runtime in a worker can
//! ask for what the plugin may have, spoil the answers of its own tenant, and end.
//!
//! `frames` is what both sides say to each other, `connection` how. In the host, `pool` finds or
//! starts the worker of a call and `conversation` serves it; `worker` is the program, and `link` the way of its guests
//! to the host.

#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod conversation;
mod frames;
#[cfg(target_os = "linux")]
mod inbox;
#[cfg(target_os = "linux")]
mod incoming;
mod link;
#[cfg(target_os = "linux")]
mod looking;
mod pool;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod setup;
#[cfg(target_os = "linux")]
mod starting;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
pub(crate) use conversation::{WorkerFailure, run};
pub(crate) use frames::AskedFunction;
pub(crate) use link::HostLink;
pub(crate) use pool::WorkerPool;
pub use pool::{IsolationConfig, WorkersBy};
#[cfg(target_os = "linux")]
pub(crate) use setup::WorkerSetup;
