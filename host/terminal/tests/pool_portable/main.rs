//! The same pool, on the pair of portable-pty.

#![cfg(target_os = "linux")]

#[path = "../pool/attached.rs"]
mod attached;
#[path = "../pool/capacity.rs"]
mod capacity;
#[path = "../pool/ends.rs"]
mod ends;
#[path = "../pool/hosts.rs"]
mod hosts;
#[path = "../pool/lost.rs"]
mod lost;
#[path = "../pool/owners.rs"]
mod owners;
#[path = "../pool/recordings.rs"]
mod recordings;
#[path = "../pool/restarts.rs"]
mod restarts;
#[path = "../pool/support.rs"]
mod support;
#[path = "../pool/turns.rs"]
mod turns;
#[path = "../pool/watched.rs"]
mod watched;

/// What opens the terminals of these tests.
const PTY: wharf_terminal::PtyBackend = wharf_terminal::PtyBackend::Portable;
