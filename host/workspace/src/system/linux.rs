//! Linux, where a descriptor stands for a directory that nobody reads, and `/proc` leads to it.

mod measure;
mod removal;

pub(crate) use measure::{measure, measure_below};
pub(crate) use removal::remove_tree;
