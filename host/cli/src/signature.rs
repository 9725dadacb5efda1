//! Signatures in files that a command line names.

use std::path::Path;

use anyhow::{Context as _, Result};
use wharf::{
    sources::{SIGNATURE_BYTES, read_component},
    trust::FoundSignature,
};

/// A signature that a host would read. Nothing of it is verified.
pub(crate) fn read_signature(file: &Path) -> Result<FoundSignature> {
    let bytes = read_component(file, SIGNATURE_BYTES).with_context(|| format!("cannot read {}", file.display()))?;
    FoundSignature::read(&bytes).with_context(|| format!("{} is not taken", file.display()))
}
