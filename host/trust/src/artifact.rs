//! What a signature is over: a component, or the manifest that names it.

use crate::{
    evidence::Covered,
    manifest,
    refusal::{Cause, Refusal},
};

/// What a signature may be over: the component, or the manifest by which a registry names it.
#[derive(Debug, Clone, Copy)]
pub struct SignedArtifact<'a> {
    /// The bytes of the component.
    pub component: &'a [u8],
    /// The manifest's bytes as the registry gave them, where the component is from one.
    pub manifest: Option<&'a [u8]>,
}

/// What the signature is over: the component, or a manifest that names the component.
///
/// `verify` checks the signature over the bytes that it is given.
pub(crate) fn covering<T>(
    artifact: SignedArtifact<'_>,
    verify: impl Fn(&[u8]) -> Result<T, Refusal>,
) -> Result<(T, Covered), Refusal> {
    let refusal = match verify(artifact.component) {
        Ok(verified) => return Ok((verified, Covered::Component)),
        Err(refusal) => refusal,
    };
    let Some(manifest) = artifact.manifest.filter(|_| refusal.cause == Cause::OtherBytes) else { return Err(refusal) };
    if manifest.len() > manifest::MAX_BYTES {
        return Err(Refusal::unusable(format!("the manifest has more than {} bytes", manifest::MAX_BYTES)));
    }
    let verified = verify(manifest)?;
    if !manifest::names(manifest, artifact.component) {
        return Err(Refusal::unusable(
            "the signature is over a manifest that does not name this component; the registry gave another one",
        ));
    }
    Ok((verified, Covered::Manifest))
}
