//! Who signed a component, and whether the operator trusts them.
//!
//! Owns the forms of signatures that are known ([`FoundSignature`]), the lines of `[plugins] trust`
//! ([`TrustRule`]), and the verdict ([`TrustPolicy::verify`]): bytes in, evidence or reasons out. A
//! signature is over the component itself, or over the manifest by which a registry names it.
//!
//! It opens no file and asks no server. It knows nothing of what a verdict leads to: no plugin, no
//! grant, no configuration. It alone names the libraries of signatures; all their cryptography is
//! ring's.

mod artifact;
mod evidence;
mod found;
mod identity;
mod key;
mod manifest;
mod minisign;
mod policy;
mod provider;
mod refusal;
mod rule;
mod signer;
mod sigstore;
mod statement;

pub use artifact::SignedArtifact;
pub use evidence::{Covered, Evidence, Untrusted};
pub use found::{FoundSignature, SignatureError, SignatureForm};
pub use identity::{IdentityPattern, InvalidIdentityPattern};
pub use key::{KeyError, TrustedKey, sha256_hex};
pub use policy::TrustPolicy;
pub use rule::{TrustError, TrustRule};
pub use signer::{InvalidSigner, PinnedSigner, Signer};
