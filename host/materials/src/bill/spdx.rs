//! SPDX 2, as JSON.

use serde::Deserialize;
use serde_json::Value;

use super::kept::{BillError, BillFormat, BillOfMaterials, malformed, sha256};
use crate::package::Package;
use wharf_core::text::line;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpdxDocument {
    spdx_version: String,
    #[serde(default)]
    packages: Vec<Listed>,
    /// What it is about, in the older of two ways.
    #[serde(default)]
    document_describes: Vec<String>,
    #[serde(default)]
    relationships: Vec<Relationship>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "SPDXID", default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(rename = "versionInfo")]
    version: Option<String>,
    #[serde(default)]
    checksums: Vec<Checksum>,
    #[serde(rename = "externalRefs", default)]
    references: Vec<Reference>,
}

#[derive(Deserialize)]
struct Checksum {
    algorithm: String,
    #[serde(rename = "checksumValue")]
    value: String,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "referenceType")]
    kind: String,
    #[serde(rename = "referenceLocator")]
    locator: String,
}

#[derive(Deserialize)]
struct Relationship {
    #[serde(rename = "spdxElementId")]
    from: String,
    #[serde(rename = "relationshipType")]
    kind: String,
    #[serde(rename = "relatedSpdxElement")]
    to: String,
}

pub(super) fn read(value: Value) -> Result<BillOfMaterials, BillError> {
    let document: SpdxDocument = serde_json::from_value(value).map_err(malformed)?;
    if !document.spdx_version.starts_with("SPDX-2.") {
        return Err(BillError::Version {
            format: BillFormat::Spdx,
            version: line(&document.spdx_version, 32),
            read: "SPDX-2.3",
        });
    }
    let described: Vec<&str> = document
        .document_describes
        .iter()
        .map(String::as_str)
        .chain(document.relationships.iter().filter_map(|relationship| {
            (relationship.from == "SPDXRef-DOCUMENT" && relationship.kind == "DESCRIBES")
                .then_some(relationship.to.as_str())
        }))
        .take(BillOfMaterials::MAX_SUBJECTS)
        .collect();
    let (mut packages, mut subjects) = (Vec::new(), Vec::new());
    for listed in &document.packages {
        // What the document is about is not among what that is made of.
        if described.contains(&listed.id.as_str()) {
            let digests = listed.checksums.iter().filter(|checksum| checksum.algorithm == "SHA256");
            subjects.extend(digests.filter_map(|checksum| sha256(&checksum.value)));
        } else {
            packages.extend(package(listed));
        }
    }
    BillOfMaterials::new(BillFormat::Spdx, packages, subjects)
}

fn package(listed: &Listed) -> Option<Package> {
    let mut urls = listed.references.iter().filter(|reference| reference.kind == "purl");
    let by_url = urls.find_map(|reference| Package::of_url(&reference.locator));
    let version = listed.version.as_deref().filter(|version| *version != "NOASSERTION");
    by_url.or_else(|| Package::named(&listed.name, version))
}
