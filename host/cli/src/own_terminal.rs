//! The operator's own terminal: its size, and reading it key by key.
//!
//! Knows nothing of the terminals that a host keeps.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{RawTerminal, Resizes, size};
#[cfg(unix)]
pub(crate) use unix::{RawTerminal, Resizes, size};
