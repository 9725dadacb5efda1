//! Which layer of an artifact is what is looked for: a component, or an index of plugins.

use oci_spec::{
    OciSpecError,
    image::{Descriptor, ImageIndex, ImageManifest},
};
use serde::{Deserialize, de::IgnoredAny};
use wharf_core::text;

use super::{error::OciError, reference::OciReference};
use crate::sought::Sought;

/// What may be asked for: manifests, and what is told apart from them by a clear error.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.docker.distribution.manifest.list.v2+json";

/// The types that Wasm has in registries: the one of the CNCF's artifact layout (`wkg`, and
/// what is named so with `oras`), and those that `wasm-to-oci`, wasmCloud and runwasi used
/// before there was one.
const WASM: [&str; 4] = [
    "application/wasm",
    "application/vnd.wasm.content.layer.v1+wasm",
    "application/vnd.module.wasm.content.layer.v1+wasm",
    "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm",
];

/// The type of any JSON, which a list may have instead of its own.
const JSON: &str = "application/json";

/// How many of what was found an error names.
const NAMED: usize = 5;
/// Bytes of a type in an error.
const TYPE_BYTES: usize = 100;

/// What tells an index from a manifest.
#[derive(Deserialize)]
struct IndexMark {
    manifests: Option<IgnoredAny>,
}

/// The error for what cannot be read.
pub(super) fn refused(source: OciSpecError) -> OciError {
    OciError::Manifest { source: Box::new(source) }
}

/// The one layer of a manifest that is what is looked for; layers of other types beside it are
/// nothing to us.
pub(super) fn layer(reference: &OciReference, bytes: &[u8], sought: Sought) -> Result<Descriptor, OciError> {
    let mark: IndexMark = serde_json::from_slice(bytes).map_err(|source| refused(source.into()))?;
    if mark.manifests.is_some() {
        let index = ImageIndex::from_reader(bytes).map_err(refused)?;
        return Err(OciError::Index { found: named(index.manifests(), |entry| described(reference, entry)) });
    }
    let manifest = ImageManifest::from_reader(bytes).map_err(refused)?;
    let is_sought = |kind: &str| match sought {
        Sought::Component => WASM.contains(&kind),
        Sought::List(what) => kind == what.media_type() || kind == JSON,
    };
    let mut found = manifest.layers().iter().filter(|layer| is_sought(layer.media_type().as_ref()));
    let layers = || named(manifest.layers(), type_of);
    match (found.next(), found.next(), sought) {
        (Some(layer), None, _) => Ok(layer.clone()),
        (None, _, Sought::Component) => Err(OciError::NoWasm { found: layers() }),
        (Some(_), Some(_), Sought::Component) => Err(OciError::SeveralWasm { found: layers() }),
        (_, _, Sought::List(what)) => Err(OciError::NoList { what, found: layers() }),
    }
}

fn type_of(layer: &Descriptor) -> String {
    text::line(layer.media_type().as_ref(), TYPE_BYTES)
}

fn described(reference: &OciReference, entry: &Descriptor) -> String {
    let platform = entry.platform().as_ref();
    let platform = platform.map(|platform| format!("{}/{}", platform.os(), platform.architecture()));
    let platform = text::line(platform.as_deref().unwrap_or("no platform"), TYPE_BYTES);
    format!("{} ({platform})", text::line(&reference.by_digest(entry.digest()), 4 * TYPE_BYTES))
}

/// The first few, and how many more there are.
fn named(found: &[Descriptor], describe: impl Fn(&Descriptor) -> String) -> String {
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let mut names: Vec<_> = found.iter().take(NAMED).map(describe).collect();
    if found.len() > NAMED {
        names.push(format!("and {} more", found.len() - NAMED));
    }
    names.join(", ")
}
