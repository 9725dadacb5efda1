//! Where components come from: a file, an `https:` address, an OCI registry.
//!
//! Owns how bytes are fetched within a length and a time, from whom, and how they are
//! checked against the digest that names them. It knows nothing of what happens to them:
//! no plugin, no receipt, no engine, no configuration.

mod fetch;
mod oci;
pub mod regular;

pub use fetch::{FetchError, Fetched, PluginSource, SourceError, agent, is_loopback, read_component};
pub use oci::{OciError, OciReference, RegistryLogins};
