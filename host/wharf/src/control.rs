//! The way from the operator's commands to a host that runs: a local socket.
//!
//! Each host that serves has a directory of its own below `DATA/hosts`, with
//! the socket and a secret. A client must know the secret: a contained child may be
//! able to reach a socket by its path where it cannot read a file. Nothing here can
//! be reached from an agent's channel.

mod client;
mod server;
mod socket;
mod wire;

pub use client::{ControlError, RunningHost, ServedPlugins, TerminalAttachment, TerminalFrame, running_hosts};
pub use server::ControlSocket;
