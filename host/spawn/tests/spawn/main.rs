//! Real children: how they start and end, what contains them, what they may use up, and
//! attempts to escape.

#![cfg(target_os = "linux")]

mod children;
mod containment;
mod escape_files;
mod escape_kernel;
mod escape_processes;
mod escape_sockets;
mod limits;
mod prepared;
mod support;
