//! Terminals with real programs.

#![cfg(target_os = "linux")]

mod contained;
mod facts;
mod programs;
mod sessions;
mod support;
mod turns;
mod typing;
