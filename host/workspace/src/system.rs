//! What workspaces ask of the system: directories of a user of their own, locks, and trees that
//! are measured and removed without following a link.
//!
//! Linux and other Unix have users and modes. Windows has neither here: a directory inherits
//! its permissions from the one above it.

// Tests on Linux compile it too.
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{measure, measure_below, remove_tree};
#[cfg(target_os = "linux")]
pub(crate) use linux::{measure, measure_below, remove_tree};
#[cfg(unix)]
pub(crate) use unix::{FileIdentity, give_to, is_at, is_root, let_users_through, owner_of};
#[cfg(windows)]
pub(crate) use windows::{FileIdentity, give_to, is_at, is_root, let_users_through, owner_of};
