//! Statements about a component that are signatures, and those that are not.

use serde::Deserialize;
use sigstore_verify::types::{Bundle, SignatureContent};
use wharf_core::text::line;

use crate::refusal::Refusal;

const STATEMENTS: [&str; 2] = ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"];
/// Types of what says who made the subject: `cosign sign`, `attest-build-provenance`, a release.
const AUTHORSHIP: [&str; 3] =
    ["https://sigstore.dev/cosign/sign/", "https://slsa.dev/provenance/", "https://in-toto.io/attestation/release/"];
/// How much is quoted of a type.
const QUOTED_BYTES: usize = 120;

#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate: String,
}

/// Checks that a statement says who made the component.
///
/// Others are about it: a scan that found a hole in a stranger's component is signed, too, by those
/// who scanned it.
pub(crate) fn check(bundle: &Bundle) -> Result<(), Refusal> {
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else { return Ok(()) };
    let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
        .map_err(|_| Refusal::unusable("the bundle has an envelope without a statement; sign with `cosign sign`"))?;
    if STATEMENTS.contains(&statement.kind.as_str())
        && AUTHORSHIP.iter().any(|authorship| statement.predicate.starts_with(authorship))
    {
        return Ok(());
    }
    let predicate = line(&statement.predicate, QUOTED_BYTES);
    Err(Refusal::unusable(format!(
        "the bundle has a statement about the component ({predicate}) that does not say who made it; sign with `cosign \
         sign`, or attest the provenance of its build"
    )))
}
