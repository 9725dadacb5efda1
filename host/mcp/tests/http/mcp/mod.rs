//! The protocol over HTTP, in both of its eras.

mod eras;
mod support;
