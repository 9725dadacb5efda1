//! The protocol over HTTP, in both of its eras.

mod calls;
mod clients;
mod eras;
mod sessions;
mod support;
