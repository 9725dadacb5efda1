//! The registry with real children. Each numbered failure of other systems that
//! concerns processes has a test named for it, in `facts`.

#![cfg(target_os = "linux")]

mod clocks;
mod facts;
mod hosts;
mod lost;
mod owners;
mod polls;
mod running;
mod sessions;
mod stopping;
mod support;
mod tenants;
mod waiting;
