//! Components on their way into a registry, in the layout of the CNCF's artifacts of Wasm: what
//! `wkg oci pull` and [`pull`](super::pull) read again.

use std::{collections::BTreeMap, time::Duration};

use oci_spec::image::Digest;
use serde_json::{Value, json};

use super::{
    digest, error::OciError, logins::RegistryLogins, manifest, reference::OciReference, session::RegistrySession,
};
use crate::sought::Sought;

/// The media types of the layout.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";
/// The layout asks for a time. The same component is the same artifact, whenever it is published.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// A component, and what is said of it beside.
#[derive(Debug, Clone, Copy)]
pub struct Publication<'p> {
    /// Its bytes.
    pub component: &'p [u8],
    /// Annotations of the manifest, such as `org.opencontainers.image.version`.
    pub annotations: &'p BTreeMap<String, String>,
    /// The instances that it imports and exports.
    pub imports: &'p [String],
    /// What it exports.
    pub exports: &'p [String],
    /// Whether a tag that names another artifact is moved to this one.
    pub replaces: bool,
    /// Signatures of it, which are put beside it.
    pub signatures: &'p [Vec<u8>],
}

/// A component that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedComponent {
    /// The reference by digest: what always names this very artifact.
    pub reference: String,
    /// Whether the tag named it already, so that nothing was sent.
    pub was_there: bool,
}

/// Publishes a component under a reference by tag, within `time`. Blocks.
///
/// # Errors
/// [`OciError::Moves`] where the tag names another artifact and must not be moved; see [`OciError`].
pub fn publish(
    reference: &OciReference,
    publication: Publication<'_>,
    time: Duration,
    logins: &RegistryLogins,
) -> Result<PublishedComponent, OciError> {
    if reference.is_fixed() {
        return Err(OciError::Fixed { reference: reference.to_string() });
    }
    let Publication { component, annotations, imports, exports, replaces, signatures } = publication;
    let layer = digest::of(component)?;
    let configuration = json!({
        "created": CREATED,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer.to_string()],
        "component": { "imports": imports, "exports": exports },
    });
    let configuration = configuration.to_string().into_bytes();
    let configured = digest::of(&configuration)?;
    let described = |kind: &str, digest: &Digest, bytes: &[u8]| -> Value {
        json!({ "mediaType": kind, "digest": digest.to_string(), "size": bytes.len() })
    };
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described(CONFIGURATION, &configured, &configuration),
        "layers": [described(LAYER, &layer, component)],
        "annotations": annotations,
    });
    let manifest = manifest.to_string().into_bytes();
    // As this host would read it.
    manifest::layer(reference, &manifest, Sought::Component)?;
    let made = digest::of(&manifest)?;
    let published = |was_there| PublishedComponent { reference: reference.by_digest(&made), was_there };
    let mut session = RegistrySession::to_publish(reference, time, logins);
    match session.tagged()? {
        Some(tagged) if tagged == made => {
            session.refer(&made, manifest.len(), signatures)?;
            return Ok(published(true));
        }
        Some(tagged) if !replaces => {
            return Err(OciError::Moves { reference: reference.to_string(), named: tagged.to_string() });
        }
        Some(_) | None => {}
    }
    // The manifest comes last: what it names is there then.
    for (digest, bytes) in [(&configured, configuration.as_slice()), (&layer, component)] {
        session.upload(digest, bytes)?;
    }
    session.put_manifest(reference.version(), MANIFEST, &manifest)?;
    session.refer(&made, manifest.len(), signatures)?;
    Ok(published(false))
}
