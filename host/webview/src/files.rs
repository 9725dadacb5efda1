//! Files on their way out of pages and into them, with names that cannot be trusted, in
//! directories in which others write.
//!
//! Owns how they are opened and copied. Nothing here follows a link below the
//! workspace, and what is written appears whole. Knows nothing of pages.

mod beneath;
mod download;
mod name;
mod upload;

pub(crate) use download::{discard, keep};
pub(crate) use upload::{open, stage};

#[cfg(test)]
mod tests;
