//! What refers to an artifact: signatures, and what is said of it. By the referrers of the distribution specification 1.1, or,
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
use crate::file_kind::{FetchedFile, FetchedFiles, FileKind, SIGNATURE};

/// Where `cosign` says of which type the statement in a bundle is.
const PREDICATE: &str = "dev.sigstore.bundle.predicateType";

/// Referrers that are looked at; the later ones are passed over.
const MOST: usize = 16;

/// The files of this kind that refer to the artifact whose manifest has this digest, and that manifest.
pub(crate) fn files(
    reference: &OciReference,
    manifest: Option<&str>,
    (time, kind): (Duration, &FileKind),
    logins: &RegistryLogins,
) -> Result<FetchedFiles, OciError> {
    let mut session = RegistrySession::new(reference, time, logins);
    let named = match manifest {
        Some(named) => named.parse().map_err(|_| OciError::Algorithm { digest: named.to_owned() })?,
        None => digest::of(&session.manifest()?.bytes)?,
    };
    let manifest = of_digest(&mut session, "the manifest", &named)?;
    let mut files = Vec::new();
    for referrer in session.referrers(&named)?.iter().filter(|referrer| may_be_one(referrer, kind)).take(MOST) {
        let bytes = of_digest(&mut session, "the manifest of a referrer", referrer.digest())?;
        let artifact = ImageManifest::from_reader(bytes.as_slice()).map_err(refused)?;
        let refers = artifact.subject().as_ref().is_none_or(|subject| *subject.digest() == named);
        let predicate = artifact.annotations().as_ref().and_then(|annotations| annotations.get(PREDICATE));
        if predicate.is_some_and(|predicate| (kind.excludes)(predicate)) {
            continue;
        }
        let layers = artifact.layers().iter().filter(|layer| (kind.has_type)(layer.media_type().as_ref()));
        for layer in layers.take(if refers { MOST } else { 0 }) {
            if layer.size() > kind.limit {
                return Err(OciError::TooLong { address: layer.digest().to_string(), limit: kind.limit });
            }
            let bytes = session.blob(layer.digest(), layer.size(), &mut |_| {})?;
            digest::check("a file that refers to the component", layer.digest(), &bytes)?;
            files.push(FetchedFile { from: reference.by_digest(referrer.digest()), bytes });
        }
    }
    files.truncate(MOST);
    Ok(FetchedFiles { files, manifest: Some(manifest) })
}

/// A manifest, checked against the digest that names it.
fn of_digest(session: &mut RegistrySession<'_>, what: &'static str, named: &Digest) -> Result<Vec<u8>, OciError> {
    let bytes = session.manifest_of(named.as_ref())?.bytes;
    digest::check(what, named, &bytes)?;
    Ok(bytes)
}

/// Whether a referrer says that it is of this kind, or says nothing.
fn may_be_one(referrer: &Descriptor, kind: &FileKind) -> bool {
    let predicate = referrer.annotations().as_ref().and_then(|annotations| annotations.get(PREDICATE));
    !predicate.is_some_and(|predicate| (kind.excludes)(predicate))
        && referrer.artifact_type().as_ref().is_none_or(|said| (kind.has_type)(said.as_ref()))
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
