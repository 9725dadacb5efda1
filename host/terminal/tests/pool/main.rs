//! The pool of terminals with real programs.

#![cfg(target_os = "linux")]

mod attached;
mod capacity;
mod ends;
mod hosts;
mod lost;
mod owners;
mod recordings;
mod restarts;
mod support;
mod turns;
mod watched;

/// What opens the terminals of these tests.
const PTY: wharf_terminal::PtyBackend = wharf_terminal::PtyBackend::Direct;
