//! Signatures of a component, where it came from: beside its file, beside its address, or as
//! referrers of its manifest in a registry.
//!
//! Finds and bounds them. Who signed, and whether that counts, is decided elsewhere.

use std::path::{Path, PathBuf};

use crate::{
    beside,
    fetch::FetchError,
    file_kind::{BUNDLE, FetchedFile, FetchedFiles, FileKind, SIGNATURE},
    materials,
    oci::RegistryLogins,
    source::PluginSource,
};

/// What follows the name of a component in that of its signature: what `minisign -S` and
/// `cosign sign-blob --bundle` are told to write.
pub const SIGNATURE_ENDINGS: [&str; 3] = [".minisig", ".sigstore.json", ".sigstore"];

/// Bytes that one signature may have: a bundle with the provenance of a large build has some ten
/// thousand.
pub const SIGNATURE_BYTES: u64 = 256 << 10;

const SIGNATURES: FileKind = FileKind {
    endings: &SIGNATURE_ENDINGS,
    limit: SIGNATURE_BYTES,
    has_type: |kind| kind.starts_with(BUNDLE) || kind == SIGNATURE,
    // It is no signature of the component, and may be longer than one.
    excludes: materials::is_bill,
    too_long: |from, limit| FetchError::LongSignature { from, limit },
};

/// The files in which a component's signatures are looked for, one for each of
/// [`SIGNATURE_ENDINGS`].
#[must_use]
pub fn signature_files(component: &Path) -> [PathBuf; 3] {
    SIGNATURE_ENDINGS.map(|ending| beside::named(component, ending))
}

/// The signatures beside the file of a component, and what is there and cannot be read.
pub fn signatures_beside(component: &Path) -> impl Iterator<Item = Result<FetchedFile, FetchError>> {
    beside::of_file(component, &SIGNATURES)
}

impl PluginSource {
    /// The signatures of a component that was fetched from here; `manifest` is the digest that
    /// [`FetchedComponent::manifest`](crate::FetchedComponent::manifest) had. None is no error. Blocks, a
    /// minute at most.
    ///
    /// # Errors
    /// See [`FetchError`]: a place that cannot be looked at is no place without signatures.
    pub fn signatures(&self, manifest: Option<&str>, logins: &RegistryLogins) -> Result<FetchedFiles, FetchError> {
        beside::of_source(self, manifest, logins, &SIGNATURES)
    }
}

#[cfg(test)]
mod tests;
