//! The room with real children: each numbered failure of other systems that
//! concerns processes has a test named for it.

#![cfg(target_os = "linux")]

mod lost;
mod owners;
mod running;
mod stopping;
mod support;
mod waiting;
