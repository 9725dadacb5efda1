//! Where a component is fetched from: a file, an address on the web, or a registry.
//!
//! What comes is hostile: as much is read as a component may have, in a time that ends.
//! TLS is verified against the certificates that the system trusts. Nothing here looks
//! at what was fetched.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use ureq::{
    Agent, Body,
    http::Response,
    tls::{RootCerts, TlsConfig},
};
use url::{Host, Url};

use crate::oci::{self, OciError, OciReference, RegistryLogins};

/// How long the whole of it may take.
const TIME: Duration = Duration::from_secs(10 * 60);
/// How long a server may take to accept a connection, and how long it may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Addresses that one leads to after the other.
pub(crate) const REDIRECTS: u32 = 5;
/// What is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

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

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes of the component.
    pub component: Vec<u8>,
    /// The digest of the manifest that a reference to a registry came to, which named
    /// the component: `sha256:…`.
    pub manifest: Option<String>,
}

/// Why a text names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It is no address.
    #[error("`{0}` is no address")]
    Address(String),
    /// What comes could be another component, put there on the way.
    #[error(
        "what comes over `http:` may be changed on its way: use `https:`, or a file; only this machine may be asked so"
    )]
    Unprotected,
    /// A scheme that is not known.
    #[error("`{0}:` is not known: name a file, an `https:` address or an `oci:` reference")]
    Scheme(String),
    /// It names nothing in a registry.
    #[error("`{0}` names nothing in a registry: write oci://REGISTRY/NAME:TAG or oci://REGISTRY/NAME@sha256:HEX")]
    Reference(String),
    /// It says neither which tag nor which digest.
    #[error("`{0}` does not say which version: add `:TAG`, which may move, or `@sha256:HEX`, which does not")]
    Unversioned(String),
    /// A password would be kept in the receipt.
    #[error(
        "an address with a user or password is not taken, since it is kept with the plugin; fetch the file yourself"
    )]
    Password,
}

/// Why a component cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server cannot be reached, is not the one it should be, or refuses.
    #[error("cannot fetch {address}")]
    Request {
        /// From where.
        address: Url,
        /// Why.
        #[source]
        source: Box<ureq::Error>,
    },
    /// What was sent broke off.
    #[error("{address} broke off")]
    Broken {
        /// From where.
        address: Url,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It cannot be had from its registry.
    #[error("cannot fetch {reference}")]
    Registry {
        /// What was asked for.
        reference: String,
        /// Why.
        #[source]
        source: Box<OciError>,
    },
    /// More comes than a component may have.
    #[error("{from} has more than {limit} bytes (limit `component_bytes` of the host)")]
    TooLarge {
        /// From where.
        from: String,
        /// What it may have.
        limit: u64,
    },
}

impl FromStr for PluginSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if !text.contains("://") {
            return Ok(Self::File(text.into()));
        }
        if text.starts_with(oci::SCHEME) {
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

/// Whether an address is one of this machine. Addresses alone: what a name means is
/// somebody else's word.
#[must_use]
pub fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
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

    /// Fetches it, at most `limit` bytes, and says now and then how many have come. A
    /// registry that asks for a login gets the one that `logins` has for it, or none.
    /// Blocks, ten minutes at most.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn fetch(&self, limit: u64, logins: &RegistryLogins, came: &mut dyn FnMut(u64)) -> Result<Fetched, FetchError> {
        let (component, manifest) = match self {
            Self::File(path) => {
                let read = read_component(path, limit);
                (read.map_err(|source| FetchError::File { path: path.clone(), source })?, None)
            }
            Self::Address(address) => (download(address, limit, came)?, None),
            Self::Registry(reference) => {
                let pulled = oci::pull(reference, limit, TIME, logins, came).map_err(|source| {
                    FetchError::Registry { reference: reference.to_string(), source: Box::new(source) }
                })?;
                (pulled.component, Some(pulled.manifest))
            }
        };
        if component.len() as u64 > limit {
            return Err(FetchError::TooLarge { from: self.to_string(), limit });
        }
        Ok(Fetched { component, manifest })
    }
}

/// Reads a component, at most one byte more than `limit`: an engine with that
/// limit refuses what is longer, and nothing larger is ever held.
///
/// # Errors
/// Where the file cannot be read.
pub fn read_component(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// At most one byte more than `limit`.
fn download(address: &Url, limit: u64, came: &mut dyn FnMut(u64)) -> Result<Vec<u8>, FetchError> {
    let request = |source: ureq::Error| FetchError::Request { address: address.clone(), source: Box::new(source) };
    let response = agent(address, TIME).get(address.as_str()).call().map_err(request)?;
    if response.status() != 200 {
        return Err(request(ureq::Error::StatusCode(response.status().as_u16())));
    }
    let announced = response.body().content_length();
    if announced.is_some_and(|bytes| bytes > limit) {
        return Err(FetchError::TooLarge { from: address.to_string(), limit });
    }
    read_body(response, limit, came).map_err(|source| FetchError::Broken { address: address.clone(), source })
}

/// Reads an answer, at most one byte more than `limit`, and says how many have come.
pub(crate) fn read_body(response: Response<Body>, limit: u64, came: &mut dyn FnMut(u64)) -> io::Result<Vec<u8>> {
    let mut body = response.into_body().into_reader().take(limit.saturating_add(1));
    // Grows with what comes, not with what was announced.
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = body.read(&mut chunk)?;
        if read == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..read]);
        came(bytes.len() as u64);
    }
}

/// The client that asks at this address, for so long in all. TLS is verified against the
/// certificates that the system trusts, and no redirect leads out of it.
#[must_use]
pub fn agent(address: &Url, time: Duration) -> Agent {
    let is_protected = address.scheme() == "https";
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        // A redirect out of TLS is refused; one of this machine leads nowhere.
        .https_only(is_protected)
        .max_redirects(if is_protected { REDIRECTS } else { 0 })
        .timeout_global(Some(time))
        .timeout_resolve(Some(SILENCE))
        .timeout_connect(Some(SILENCE))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .user_agent(concat!("wharf/", env!("CARGO_PKG_VERSION")));
    // The way to this machine leads over nobody else.
    if is_protected { config.build().into() } else { config.proxy(None).build().into() }
}

#[cfg(test)]
mod tests;
