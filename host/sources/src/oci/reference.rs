//! What an operator writes to name an artifact: `oci://REGISTRY/NAME:TAG`, or
//! `oci://REGISTRY/NAME@sha256:HEX`.
//!
//! Nothing is made up: other tools take a name without a registry for one of Docker's,
//! and one without a tag for `latest`; here both are refused.

use std::{fmt, str::FromStr};

use oci_spec::{distribution::Reference, image::Digest};
use url::Url;

use crate::{client::is_loopback, error::SourceError};

/// How all of them begin.
pub(crate) const SCHEME: &str = "oci://";
/// What the specification calls Docker's registry, and where that is.
const DOCKER: [&str; 2] = ["docker.io", "index.docker.io"];

/// An artifact in a registry, by tag or by digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciReference {
    /// As it was asked for.
    text: String,
    artifact: Reference,
    digest: Option<Digest>,
    /// Where its manifests and blobs are.
    base: Url,
}

impl FromStr for OciReference {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let refused = || SourceError::Reference(text.to_owned());
        let named = text.strip_prefix(SCHEME).ok_or_else(refused)?;
        let (registry, path) = named.split_once('/').ok_or_else(refused)?;
        if registry.contains('@') {
            return Err(SourceError::Password);
        }
        let artifact: Reference = named.parse().map_err(|_| refused())?;
        if artifact.registry() != registry && !DOCKER.contains(&registry) {
            return Err(refused());
        }
        if !path.rsplit('/').next().is_some_and(|last| last.contains([':', '@'])) {
            return Err(SourceError::Unversioned(text.to_owned()));
        }
        let digest = artifact.digest().map(str::parse).transpose().map_err(|_| refused())?;
        let base = format!("{}/v2/{}/", artifact.resolve_registry(), artifact.repository());
        let parse = |scheme: &str| Url::parse(&format!("{scheme}://{base}")).map_err(|_| refused());
        // Only what never leaves this machine may go without TLS.
        let base = Some(parse("http")?).filter(is_loopback).map_or_else(|| parse("https"), Ok)?;
        Ok(Self { text: text.to_owned(), artifact, digest, base })
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl OciReference {
    /// Whether it always names the same artifact: by digest, which no tag moves.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.digest.is_some()
    }

    /// The last part of the artifact's name.
    pub(crate) fn stem(&self) -> &str {
        self.repository().rsplit('/').next().unwrap_or_default()
    }

    /// The same name by this digest: what would be written to have exactly that.
    pub(super) fn by_digest(&self, digest: &Digest) -> String {
        format!("{SCHEME}{}/{}@{digest}", self.artifact.registry(), self.repository())
    }

    pub(super) fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    pub(super) fn repository(&self) -> &str {
        self.artifact.repository()
    }

    /// The tag or the digest, which decides where both are there.
    pub(super) fn version(&self) -> &str {
        self.artifact.digest().or_else(|| self.artifact.tag()).unwrap_or_default()
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }
}
