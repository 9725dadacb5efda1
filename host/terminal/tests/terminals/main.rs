//! Terminals with real programs, on the pair of the system.

#![cfg(target_os = "linux")]

mod answers;
mod contained;
mod facts;
mod integration;
mod programs;
mod remote;
mod sessions;
mod support;
mod turns;
mod typing;
mod untuned;
mod waits;

use wharf_terminal::PtyBackend;

/// What opens the terminals of these tests.
const PTY: PtyBackend = PtyBackend::Direct;
/// Descriptors of the host for each terminal.
const DESCRIPTORS: usize = 1;
