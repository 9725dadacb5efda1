//! CycloneDX: of a bill as large as it may be, the few members that name packages.

use serde::Deserialize;
use serde_json::Value;

use super::kept::{BillError, BillFormat, BillOfMaterials, malformed, sha256};
use crate::package::Package;

#[derive(Deserialize)]
struct Bill {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    component: Option<Component>,
}

#[derive(Deserialize)]
struct Component {
    #[serde(default)]
    name: String,
    group: Option<String>,
    version: Option<String>,
    purl: Option<String>,
    #[serde(default)]
    hashes: Vec<Hash>,
    /// What it is made of in turn. As deep as the JSON may be.
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Hash {
    alg: String,
    content: String,
}

pub(super) fn read(value: Value) -> Result<BillOfMaterials, BillError> {
    let Bill { metadata, components } = serde_json::from_value(value).map_err(malformed)?;
    let hashes = metadata.component.iter().flat_map(|component| &component.hashes);
    let subjects = hashes.filter(|hash| hash.alg == "SHA-256").filter_map(|hash| sha256(&hash.content)).collect();
    let mut packages = Vec::new();
    // What the described component has inside is listed there by some.
    let mut left: Vec<_> =
        components.into_iter().chain(metadata.component.map(|of| of.components).unwrap_or_default()).collect();
    while let Some(component) = left.pop() {
        packages.extend(package(&component));
        left.extend(component.components);
    }
    BillOfMaterials::new(BillFormat::CycloneDx, packages, subjects)
}

fn package(component: &Component) -> Option<Package> {
    let by_url = component.purl.as_deref().and_then(Package::of_url);
    by_url.or_else(|| {
        let name = match &component.group {
            Some(group) if !group.is_empty() => format!("{group}/{}", component.name),
            _ => component.name.clone(),
        };
        Package::named(&name, component.version.as_deref())
    })
}
