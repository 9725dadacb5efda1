//! Kinds of files that lie beside a component, and what was found of one.

use crate::fetch::FetchError;

/// Types of artifacts and layers in registries: bundles, as `cosign` pushes them, and files as
/// `wharf publish --signature` does.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle";
pub(crate) const SIGNATURE: &str = "application/vnd.wharf.signature.v1";

/// What is looked for.
pub(crate) struct FileKind {
    /// What follows the name of a component in that of such a file.
    pub(crate) endings: &'static [&'static str],
    /// Bytes that one may have.
    pub(crate) limit: u64,
    /// Whether a type of artifacts and layers in registries is one of these.
    #[cfg_attr(not(feature = "oci"), expect(dead_code, reason = "this build asks no registry"))]
    pub(crate) has_type: fn(&str) -> bool,
    /// Whether a referrer that says so of its statement is none of these.
    #[cfg_attr(not(feature = "oci"), expect(dead_code, reason = "this build asks no registry"))]
    pub(crate) excludes: fn(&str) -> bool,
    /// What is said of one that is too long.
    pub(crate) too_long: fn(String, u64) -> FetchError,
}

/// A file about a component, which may be a signature of it or say something of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Where it lies, in words for a person.
    pub from: String,
    /// What it has.
    pub bytes: Vec<u8>,
}

/// What was found about a component. Nothing of it is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedFiles {
    /// The files, as they came.
    pub files: Vec<FetchedFile>,
    /// The manifest by which a registry names the component: all files of a registry refer to it, and a
    /// signature or a statement may be about it.
    pub manifest: Option<Vec<u8>>,
}
