//! Front ends that are connected: pages and windows of an app whose own
//! functions are tools, for as long as they are.
//!
//! Owns which there are, whose they are, what their tools are called, and when
//! one counts as gone. Knows no transport: HTTP and an app with a channel of
//! its own ask the same. Nothing of one tenant is found for another one.

mod action;
mod answer;
mod connected;
mod connection;
mod definition;
mod directory;
mod following;
mod others;
mod service;
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "hosts of a cluster ask for it"))]
mod sharing;
mod table;

pub(crate) use directory::FrontEnds;
pub use following::FrontEnd;
pub(crate) use others::OtherTool;
pub(crate) use service::ServedFrontEnds;
