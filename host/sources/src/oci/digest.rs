//! Digests as the OCI writes them, and the bytes that they name.

use oci_spec::image::{Digest, DigestAlgorithm};
use ring::digest::{Algorithm, SHA256, SHA384, SHA512};

use super::error::OciError;

/// The digest that names these bytes.
pub(super) fn of(bytes: &[u8]) -> Result<Digest, OciError> {
    let text = format!("sha256:{}", hex(&SHA256, bytes));
    text.parse().map_err(|_| OciError::Algorithm { digest: text })
}

/// Refuses bytes that this digest does not name; `what` says of what in the error.
pub(super) fn check(what: &'static str, named: &Digest, bytes: &[u8]) -> Result<(), OciError> {
    let algorithm = algorithm(named).ok_or_else(|| OciError::Algorithm { digest: named.to_string() })?;
    let found = hex(algorithm, bytes);
    if found == named.digest() {
        return Ok(());
    }
    let found = format!("{}:{found}", named.algorithm());
    Err(OciError::Digest { what, named: named.to_string(), found })
}

/// Whether it can be checked.
pub(super) fn is_known(digest: &Digest) -> bool {
    algorithm(digest).is_some()
}

fn algorithm(digest: &Digest) -> Option<&'static Algorithm> {
    match digest.algorithm() {
        DigestAlgorithm::Sha256 => Some(&SHA256),
        DigestAlgorithm::Sha384 => Some(&SHA384),
        DigestAlgorithm::Sha512 => Some(&SHA512),
        _ => None,
    }
}

fn hex(algorithm: &'static Algorithm, bytes: &[u8]) -> String {
    ring::digest::digest(algorithm, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
