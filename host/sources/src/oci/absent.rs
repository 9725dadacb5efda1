//! Builds without the feature `oci`: what names a registry is refused when it is read, so
//! there is nothing to fetch from one.

use std::{fmt, str::FromStr, time::Duration};

use crate::{
    error::SourceError,
    file_kind::{FetchedFiles, FileKind},
    sought::Sought,
};

/// How references begin.
pub(crate) const SCHEME: &str = "oci://";

/// An artifact in a registry: this build has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OciReference {}

impl FromStr for OciReference {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        Err(SourceError::NoRegistries(text.to_owned()))
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl OciReference {
    /// Whether it always names the same artifact.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match *self {}
    }

    pub(crate) fn stem(&self) -> &str {
        match *self {}
    }
}

/// Logins for registries: this build asks none.
#[derive(Debug, Clone, Default)]
pub struct RegistryLogins(());

impl RegistryLogins {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
}

/// Why a component cannot be had from a registry: this build asks none.
#[derive(Debug)]
#[non_exhaustive]
pub enum OciError {}

impl fmt::Display for OciError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for OciError {}

/// What a reference led to.
pub(crate) struct PulledLayer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) manifest: String,
}

pub(crate) fn pull(
    reference: &OciReference,
    _: (Sought, u64),
    _: Duration,
    _: &RegistryLogins,
    _: &mut dyn FnMut(u64),
) -> Result<PulledLayer, OciError> {
    match *reference {}
}

pub(crate) fn files(
    reference: &OciReference,
    _: Option<&str>,
    _: (Duration, &FileKind),
    _: &RegistryLogins,
) -> Result<FetchedFiles, OciError> {
    match *reference {}
}

#[cfg(test)]
mod tests {
    use crate::{error::SourceError, source::PluginSource};

    #[test]
    fn a_reference_to_a_registry_is_refused_with_what_to_build() {
        let refused = "oci://registry.example/a:1".parse::<PluginSource>().expect_err("no registries");
        assert!(matches!(&refused, SourceError::NoRegistries(_)));
        assert!(refused.to_string().contains("feature `oci`"), "{refused}");
    }
}
