//! What workspaces ask of the system: directories of a user of their own, open directories,
//! locks, and what a file takes on disk.
//!
//! Linux and other Unix have users and modes. Windows has neither here: a directory inherits
//! its permissions from the one above it.

pub(crate) mod open_directory;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{FileIdentity, bytes_on_disk, give_to, is_at, is_root, let_users_through, open_to_owner};
#[cfg(windows)]
pub(crate) use windows::{FileIdentity, bytes_on_disk, give_to, is_at, is_root, let_users_through, open_to_owner};
