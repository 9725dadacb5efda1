//! What the crate promises, at its edge: real files of real producers, files
//! made here part by part, and files that were made to do harm.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod chunking;
mod hostile;
mod hostile_pdf;
mod office;
mod pdf;
mod real_files;
mod support;
mod text;
