//! Terminals with real programs.

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
mod waits;
