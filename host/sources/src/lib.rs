//! Where components come from: a file, an `https:` address, an OCI registry. And indexes, which
//! list such places.
//!
//! Owns how bytes are fetched within a length and a time, from whom, and how they are
//! checked against the digest that names them. It knows nothing of what happens to them:
//! no plugin, no receipt, no engine, no configuration. Without the feature `oci` it asks no
//! registry, and refuses what names one.

mod beside;
mod client;
mod error;
mod fetch;
mod file_kind;
mod index;
mod materials;
#[cfg_attr(not(feature = "oci"), path = "oci/absent.rs")]
mod oci;
mod signatures;
mod sought;
mod source;

pub use client::{agent, is_protected};
pub use error::SourceError;
pub use fetch::{FetchError, FetchedComponent, read_component};
pub use file_kind::{FetchedFile, FetchedFiles};
pub use index::{IndexError, IndexedPlugin, IndexedVersion, PluginIndex};
pub use materials::{MATERIAL_BYTES, MATERIAL_ENDINGS, materials_beside};
pub use oci::{OciError, OciReference, RegistryLogins};
#[cfg(feature = "oci")]
pub use oci::{Publication, PublishedComponent, publish};
pub use signatures::{SIGNATURE_BYTES, SIGNATURE_ENDINGS, signature_files, signatures_beside};
pub use sought::ListKind;
pub use source::PluginSource;
