//! The whole house from outside, one file for each promise. All in one program:
//! every further one would link the runtime again.
#![cfg(unix)]

mod cache;
mod cancellation;
mod command;
mod components;
mod configuration;
mod contexts;
mod contract;
mod failures;
mod limits;
mod planning;
mod sealed;
