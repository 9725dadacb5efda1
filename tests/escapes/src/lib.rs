//! Ways out of a confined process, each of which has to fail.
//!
//! Owns what code tries that got into the process of a host: [`all`]. A test that confines itself calls it. A test of
//! the real host has the dynamic linker load this crate into `wharf serve` as a library, which then tries from within
//! that process, with the reach that this host has: [`loaded`].
//!
//! Knows no other crate.

#![cfg(target_os = "linux")]

mod attempts;
mod calls;
pub mod loaded;

pub use attempts::{Attempt, AttemptPlace, Ready, all, is_refused};
