//! Signatures that refer to an artifact: by the referrers of the distribution specification 1.1, or,
//! where a registry has none, by the tag that the specification puts in their place.
//!
//! Everybody who may push into a repository may add a referrer, so their number and length are bounded, and
//! nothing here says that one counts.

use std::time::Duration;

use oci_spec::image::{Descriptor, Digest, ImageIndex, ImageManifest};
use serde_json::{Value, json};

use super::{
    digest,
    error::OciError,
    logins::RegistryLogins,
    manifest::refused,
    publish::MANIFEST,
    reference::OciReference,
    session::{INDEX, RegistrySession},
};
use crate::signatures::{FetchedSignature, FetchedSignatures, SIGNATURE_BYTES};

/// Types of artifacts and layers that are signatures: bundles, as `cosign` pushes them, and files as
/// `wharf publish --signature` does.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle";
pub(super) const SIGNATURE: &str = "application/vnd.wharf.signature.v1";

/// Referrers that are looked at; the later ones are passed over.
const MOST: usize = 16;

/// The signatures of the artifact whose manifest has this digest, and that manifest.
pub(crate) fn signatures(
    reference: &OciReference,
    manifest: Option<&str>,
    time: Duration,
    logins: &RegistryLogins,
) -> Result<FetchedSignatures, OciError> {
    let mut session = RegistrySession::new(reference, time, logins);
    let named = match manifest {
        Some(named) => named.parse().map_err(|_| OciError::Algorithm { digest: named.to_owned() })?,
        None => digest::of(&session.manifest()?.bytes)?,
    };
    let manifest = of_digest(&mut session, "the manifest", &named)?;
    let mut files = Vec::new();
    for referrer in session.referrers(&named)?.iter().filter(|referrer| may_be_one(referrer)).take(MOST) {
        let bytes = of_digest(&mut session, "the manifest of a signature", referrer.digest())?;
        let artifact = ImageManifest::from_reader(bytes.as_slice()).map_err(refused)?;
        let refers = artifact.subject().as_ref().is_none_or(|subject| *subject.digest() == named);
        let layers = artifact.layers().iter().filter(|layer| is_signature(layer.media_type().as_ref()));
        for layer in layers.take(if refers { MOST } else { 0 }) {
            if layer.size() > SIGNATURE_BYTES {
                return Err(OciError::TooLong { address: layer.digest().to_string(), limit: SIGNATURE_BYTES });
            }
            let bytes = session.blob(layer.digest(), layer.size(), &mut |_| {})?;
            digest::check("a signature", layer.digest(), &bytes)?;
            files.push(FetchedSignature { from: reference.by_digest(referrer.digest()), bytes });
        }
    }
    files.truncate(MOST);
    Ok(FetchedSignatures { files, manifest: Some(manifest) })
}

/// A manifest, checked against the digest that names it.
fn of_digest(session: &mut RegistrySession<'_>, what: &'static str, named: &Digest) -> Result<Vec<u8>, OciError> {
    let bytes = session.manifest_of(named.as_ref())?.bytes;
    digest::check(what, named, &bytes)?;
    Ok(bytes)
}

/// Whether a referrer says that it is a signature, or says nothing.
fn may_be_one(referrer: &Descriptor) -> bool {
    referrer.artifact_type().as_ref().is_none_or(|kind| is_signature(kind.as_ref()))
}

fn is_signature(kind: &str) -> bool {
    kind.starts_with(BUNDLE) || kind == SIGNATURE
}

impl RegistrySession<'_> {
    /// What refers to the manifest of this digest.
    fn referrers(&mut self, named: &Digest) -> Result<Vec<Descriptor>, OciError> {
        let answered = match self.index("referrers", named.as_ref()) {
            Err(OciError::Missing { .. }) => self.index("manifests", &tag_of(named)),
            answered => answered,
        };
        match answered {
            Ok(bytes) => Ok(ImageIndex::from_reader(bytes.as_slice()).map_err(refused)?.manifests().clone()),
            Err(OciError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// The tag that has the referrers of a manifest where a registry knows none.
pub(super) fn tag_of(named: &Digest) -> String {
    format!("{}-{}", named.algorithm(), named.digest())
}

/// The content of a manifest that needs no configuration, by the specification.
const EMPTY: (&str, &[u8]) = ("application/vnd.oci.empty.v1+json", b"{}");

impl RegistrySession<'_> {
    /// Puts signatures beside the artifact whose manifest has this digest and this length.
    pub(super) fn refer(&mut self, subject: &Digest, bytes: usize, signatures: &[Vec<u8>]) -> Result<(), OciError> {
        for signature in signatures {
            self.refer_one(subject, bytes, signature)?;
        }
        Ok(())
    }

    fn refer_one(&mut self, subject: &Digest, bytes: usize, signature: &[u8]) -> Result<(), OciError> {
        let described = |kind: &str, digest: &Digest, bytes: usize| -> Value {
            json!({ "mediaType": kind, "digest": digest.to_string(), "size": bytes })
        };
        let (kind, empty) = EMPTY;
        let (configured, layer) = (digest::of(empty)?, digest::of(signature)?);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": SIGNATURE,
            "config": described(kind, &configured, empty.len()),
            "layers": [described(SIGNATURE, &layer, signature.len())],
            "subject": described(MANIFEST, subject, bytes),
        });
        let manifest = manifest.to_string().into_bytes();
        let made = digest::of(&manifest)?;
        for (digest, bytes) in [(&configured, empty), (&layer, signature)] {
            self.upload(digest, bytes)?;
        }
        if self.put_manifest(made.as_ref(), MANIFEST, &manifest)? {
            return Ok(());
        }
        // A registry of before the specification 1.1: its clients keep the list.
        let mut listed = self.referrers(subject)?.into_iter().map(|known| json!(known)).collect::<Vec<_>>();
        if listed.iter().any(|known| known["digest"] == made.to_string()) {
            return Ok(());
        }
        let mut descriptor = described(MANIFEST, &made, manifest.len());
        descriptor["artifactType"] = json!(SIGNATURE);
        listed.push(descriptor);
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": listed }).to_string().into_bytes();
        self.put_manifest(&tag_of(subject), INDEX, &index).map(drop)
    }
}
