//! Components and indexes that lie in an OCI registry, or go there. A reference is resolved once, to the digest of
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
mod referrers;
mod session;

use std::time::Duration;

use oci_spec::image::Digest;

pub use error::OciError;
pub use logins::RegistryLogins;
pub use publish::{Publication, PublishedComponent, publish};
pub use reference::OciReference;
pub(crate) use reference::SCHEME;
pub(crate) use referrers::files;
use session::RegistrySession;

use crate::sought::Sought;

/// What a reference led to.
#[derive(Debug)]
pub(crate) struct PulledLayer {
    /// The bytes of the one layer that was looked for.
    pub(crate) bytes: Vec<u8>,
    /// The digest of the manifest that named them.
    pub(crate) manifest: String,
}

/// Fetches what is looked for behind a reference, at most `limit` bytes, within `time`.
/// Blocks.
///
/// # Errors
/// See [`OciError`].
pub(crate) fn pull(
    reference: &OciReference,
    (sought, limit): (Sought, u64),
    time: Duration,
    logins: &RegistryLogins,
    came: &mut dyn FnMut(u64),
) -> Result<PulledLayer, OciError> {
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
    let layer = manifest::layer(reference, &manifest.bytes, sought)?;
    if !digest::is_known(layer.digest()) {
        return Err(OciError::Algorithm { digest: layer.digest().to_string() });
    }
    if layer.size() > limit {
        let bytes = layer.size();
        return Err(match sought {
            Sought::Component => OciError::TooLarge { bytes, limit },
            Sought::List(what) => OciError::LongList { what, bytes, limit },
        });
    }
    let bytes = session.blob(layer.digest(), layer.size(), came)?;
    if bytes.len() as u64 != layer.size() {
        return Err(OciError::Size { named: layer.size(), came: bytes.len() as u64 });
    }
    digest::check("the layer", layer.digest(), &bytes)?;
    Ok(PulledLayer { bytes, manifest: resolved.to_string() })
}

#[cfg(test)]
mod tests;
