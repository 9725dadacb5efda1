//! The same terminals with real programs, on the pair of portable-pty.

#![cfg(target_os = "linux")]

#[path = "../terminals/answers.rs"]
mod answers;
#[path = "../terminals/contained.rs"]
mod contained;
#[path = "../terminals/facts.rs"]
mod facts;
#[path = "../terminals/integration.rs"]
mod integration;
#[path = "../terminals/programs.rs"]
mod programs;
#[path = "../terminals/remote.rs"]
mod remote;
#[path = "../terminals/sessions.rs"]
mod sessions;
#[path = "../terminals/support.rs"]
mod support;
#[path = "../terminals/turns.rs"]
mod turns;
#[path = "../terminals/typing.rs"]
mod typing;
#[path = "../terminals/untuned.rs"]
mod untuned;
#[path = "../terminals/waits.rs"]
mod waits;

use wharf_terminal::PtyBackend;

/// What opens the terminals of these tests.
const PTY: PtyBackend = PtyBackend::Portable;
/// Descriptors of the host for each terminal.
const DESCRIPTORS: usize = 3;
