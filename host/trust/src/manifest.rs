//! The manifest of an image, by which a registry names a component.

use serde::Deserialize;

use crate::key::sha256_hex;

/// The most bytes of a manifest: 1 MiB.
pub(crate) const MAX_BYTES: usize = 1 << 20;
const SCHEMA_VERSION: u32 = 2;
const MEDIA_TYPES: [&str; 2] =
    ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct Layer {
    digest: String,
}

/// Whether this is a manifest, and the component one of its layers.
///
/// A document that is no manifest names nothing, whatever digests it has: its signer meant something
/// else by it.
pub(crate) fn names(manifest: &[u8], component: &[u8]) -> bool {
    let Ok(manifest) = serde_json::from_slice::<Manifest>(manifest) else { return false };
    let is_manifest = manifest.schema_version == SCHEMA_VERSION
        && manifest.media_type.is_none_or(|media_type| MEDIA_TYPES.contains(&media_type.as_str()));
    let digest = format!("sha256:{}", sha256_hex(component));
    is_manifest && manifest.layers.iter().any(|layer| layer.digest == digest)
}
