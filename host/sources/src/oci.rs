//! Components that lie in an OCI registry, or go there. A reference is resolved once, to the digest of
//! the manifest that came; from there on everything is asked for by digest and checked
//! against the very bytes that came.
//!
//! All that a registry says is hostile: it is bounded before it is kept, and it chooses
//! neither who gets a login nor a way out of TLS. Knows no receipts and no engine, and
//! never looks into a component.

mod challenge;
mod digest;
mod error;
mod logins;
mod manifest;
mod publish;
mod reference;
mod session;

use std::time::Duration;

use oci_spec::image::Digest;

pub use error::OciError;
pub use logins::RegistryLogins;
pub use publish::{Publication, PublishedComponent, publish};
pub use reference::OciReference;
pub(crate) use reference::SCHEME;
use session::RegistrySession;

/// What a reference led to.
#[derive(Debug)]
pub(crate) struct PulledComponent {
    /// The bytes of the one Wasm layer.
    pub(crate) component: Vec<u8>,
    /// The digest of the manifest that named them.
    pub(crate) manifest: String,
}

/// Fetches the component that a reference names, at most `limit` bytes, within `time`.
/// Blocks.
///
/// # Errors
/// See [`OciError`].
pub(crate) fn pull(
    reference: &OciReference,
    limit: u64,
    time: Duration,
    logins: &RegistryLogins,
    came: &mut dyn FnMut(u64),
) -> Result<PulledComponent, OciError> {
    let mut session = RegistrySession::new(reference, time, logins);
    let manifest = session.manifest()?;
    let resolved = match reference.digest() {
        Some(named) => {
            digest::check("the manifest", named, &manifest.bytes)?;
            named.clone()
        }
        None => digest::of(&manifest.bytes)?,
    };
    // A registry that calls it something else has not sent what it thinks it did.
    let called = manifest.called.and_then(|called| called.parse::<Digest>().ok());
    if let Some(called) = called.filter(digest::is_known) {
        digest::check("the manifest", &called, &manifest.bytes)?;
    }
    let layer = manifest::wasm_layer(reference, &manifest.bytes)?;
    if !digest::is_known(layer.digest()) {
        return Err(OciError::Algorithm { digest: layer.digest().to_string() });
    }
    if layer.size() > limit {
        return Err(OciError::TooLarge { bytes: layer.size(), limit });
    }
    let component = session.blob(layer.digest(), layer.size(), came)?;
    if component.len() as u64 != layer.size() {
        return Err(OciError::Size { named: layer.size(), came: component.len() as u64 });
    }
    digest::check("the layer", layer.digest(), &component)?;
    Ok(PulledComponent { component, manifest: resolved.to_string() })
}

#[cfg(test)]
mod tests;
