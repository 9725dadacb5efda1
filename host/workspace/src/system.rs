//! What workspaces ask of the system: directories of a user of their own, and files that are
//! measured, locked and removed without following a link.
//!
//! Only Linux has all of it. Elsewhere [`check`] refuses every workspace, and the other
//! functions refuse as well.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{
    FileIdentity, check, give_to, is_root, let_users_through, measure, measure_below, remove_tree,
};
#[cfg(target_os = "linux")]
pub(crate) use linux::{FileIdentity, check, give_to, is_root, let_users_through, measure, measure_below, remove_tree};
