//! How the host opens and makes files of its own.
//!
//! Owns the modes and flags that keep them from other users and from whatever else stands
//! under their names. It knows nothing of what a file is for, and of no other crate.

pub mod host_directory;
pub mod positioned;
pub mod private_files;
pub mod regular_file;
pub mod unshared;
