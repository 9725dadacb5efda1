//! What is said of a component where it came from: bills of materials, and statements about how it
//! was built.
//!
//! Finds and bounds it. What it says, and who says it, is read elsewhere.

use std::path::Path;

use crate::{
    beside,
    fetch::FetchError,
    file_kind::{BUNDLE, FetchedFile, FetchedFiles, FileKind},
    oci::RegistryLogins,
    source::PluginSource,
};

/// What follows the name of a component in that of what is said of it.
pub const MATERIAL_ENDINGS: [&str; 4] = [".cdx.json", ".spdx.json", ".intoto.jsonl", ".sigstore.json"];

/// Bytes that one file may have.
pub const MATERIAL_BYTES: u64 = 6 << 20;

/// Types of artifacts and layers: bills as they are, statements, and statements in bundles.
const TYPES: [&str; 3] = ["application/vnd.cyclonedx+json", "application/spdx+json", "application/vnd.in-toto+json"];

/// The beginnings of the types of statements that are bills.
const BILLS: [&str; 2] = ["https://cyclonedx.org/bom", "https://spdx.dev/Document"];

/// Whether a statement of this type is a bill.
pub(crate) fn is_bill(predicate: &str) -> bool {
    BILLS.iter().any(|bill| predicate.starts_with(bill))
}

const MATERIALS: FileKind = FileKind {
    endings: &MATERIAL_ENDINGS,
    limit: MATERIAL_BYTES,
    has_type: |kind| kind.starts_with(BUNDLE) || TYPES.contains(&kind.split(';').next().unwrap_or_default().trim()),
    excludes: |_| false,
    too_long: |from, limit| FetchError::LongMaterial { from, limit },
};

/// What is said beside the file of a component, and what is there and cannot be read.
pub fn materials_beside(component: &Path) -> impl Iterator<Item = Result<FetchedFile, FetchError>> {
    beside::of_file(component, &MATERIALS)
}

impl PluginSource {
    /// What is said of a component that was fetched from here; `manifest` is the digest that
    /// [`FetchedComponent::manifest`](crate::FetchedComponent::manifest) had. Nothing is no error. Blocks, a
    /// minute at most.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn materials(&self, manifest: Option<&str>, logins: &RegistryLogins) -> Result<FetchedFiles, FetchError> {
        beside::of_source(self, manifest, logins, &MATERIALS)
    }
}
