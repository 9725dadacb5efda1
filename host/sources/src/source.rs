//! Where a component is, as an operator writes it: a path, an address, or a reference to
//! a registry.
//!
//! Owns the form alone; nothing is fetched here.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use url::Url;

use crate::{
    client::is_loopback,
    error::SourceError,
    oci::{OciReference, SCHEME},
};

/// Where a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Address(Url),
    /// In an OCI registry.
    Registry(OciReference),
}

impl FromStr for PluginSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if !text.contains("://") {
            if is_reference(text) {
                return Err(SourceError::NoScheme(text.to_owned()));
            }
            return Ok(Self::File(text.into()));
        }
        if text.starts_with(SCHEME) {
            return Ok(Self::Registry(text.parse()?));
        }
        let address = Url::parse(text).map_err(|_| SourceError::Address(text.to_owned()))?;
        if !address.username().is_empty() || address.password().is_some() {
            return Err(SourceError::Password);
        }
        match address.scheme() {
            "https" => Ok(Self::Address(address)),
            "http" if is_loopback(&address) => Ok(Self::Address(address)),
            "http" => Err(SourceError::Unprotected),
            other => Err(SourceError::Scheme(other.to_owned())),
        }
    }
}

/// Whether a text is a reference without its scheme: a host with a dot or a port, and a version.
fn is_reference(text: &str) -> bool {
    let Some((registry, path)) = text.split_once('/') else { return false };
    let version = path.rsplit('/').next().unwrap_or(path);
    let host = registry.split_once(':').map_or(registry, |(host, _)| host);
    let is_host = registry.contains(['.', ':']) && host.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_host && version.contains([':', '@']) && !text.ends_with(".wasm")
}

impl fmt::Display for PluginSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Address(address) => formatter.write_str(address.as_str()),
            Self::Registry(reference) => reference.fmt(formatter),
        }
    }
}

impl PluginSource {
    /// The last part of it without its ending: what the plugin may be called.
    #[must_use]
    pub fn stem(&self) -> Option<String> {
        let stem = match self {
            Self::File(path) => path.file_stem()?.to_str()?,
            Self::Address(address) => Path::new(address.path()).file_stem()?.to_str()?,
            Self::Registry(reference) => reference.stem(),
        };
        Some(stem.replace('_', "-"))
    }
}
