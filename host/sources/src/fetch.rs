//! Fetching: from a source to bytes.
//!
//! A server is not trusted with length or time: no more is read than a component may
//! have, and every fetch ends within ten minutes. Nothing here looks into a component.

use std::{
    error::Error,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use url::Url;

use crate::{
    client::{agent, get, read_body},
    oci::{self, OciError, RegistryLogins},
    sought::{ListKind, Sought},
    source::PluginSource,
};

/// How long the whole of it may take.
const TIME: Duration = Duration::from_secs(10 * 60);

/// A component as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedComponent {
    /// The bytes of the component.
    pub component: Vec<u8>,
    /// The digest of the manifest that a reference to a registry came to, which named
    /// the component: `sha256:…`.
    pub manifest: Option<String>,
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
        source: Box<dyn Error + Send + Sync>,
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
    /// More comes than a list may have.
    #[error("{from} has more than {limit} bytes, and {what} has fewer")]
    LongList {
        /// From where.
        from: String,
        /// What was looked for.
        what: ListKind,
        /// What it may have.
        limit: u64,
    },
    /// More comes than a signature may have.
    #[error("{from} has more than {limit} bytes, and a signature has fewer")]
    LongSignature {
        /// From where.
        from: String,
        /// What it may have.
        limit: u64,
    },
    /// More comes than a bill of materials or a statement may have.
    #[error("{from} has more than {limit} bytes, and what is read of a component's materials has fewer")]
    LongMaterial {
        /// From where.
        from: String,
        /// What it may have.
        limit: u64,
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

impl PluginSource {
    /// Fetches it, at most `limit` bytes, and says now and then how many have come. A
    /// registry that asks for a login gets the one that `logins` has for it, or none.
    /// Blocks, ten minutes at most.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn fetch(
        &self,
        limit: u64,
        logins: &RegistryLogins,
        came: &mut dyn FnMut(u64),
    ) -> Result<FetchedComponent, FetchError> {
        let (component, manifest) = self.fetch_sought((Sought::Component, limit), logins, came)?;
        Ok(FetchedComponent { component, manifest })
    }

    /// Fetches a list of what must not run: its bytes, at most `limit`, and the digest of the manifest that
    /// named them. Blocks, ten minutes at most.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn fetch_deny_list(
        &self,
        limit: u64,
        logins: &RegistryLogins,
    ) -> Result<(Vec<u8>, Option<String>), FetchError> {
        self.fetch_sought((Sought::List(ListKind::DenyList), limit), logins, &mut |_| {})
    }

    /// The same for whatever is looked for: its bytes, and the digest of the manifest that named
    /// them.
    pub(crate) fn fetch_sought(
        &self,
        (sought, limit): (Sought, u64),
        logins: &RegistryLogins,
        came: &mut dyn FnMut(u64),
    ) -> Result<(Vec<u8>, Option<String>), FetchError> {
        let too_large = || match sought {
            Sought::Component => FetchError::TooLarge { from: self.to_string(), limit },
            Sought::List(what) => FetchError::LongList { from: self.to_string(), what, limit },
        };
        let (bytes, manifest) = match self {
            Self::File(path) => {
                let read = read_component(path, limit);
                (read.map_err(|source| FetchError::File { path: path.clone(), source })?, None)
            }
            Self::Address(address) => (download(address, limit, came)?.ok_or_else(too_large)?, None),
            Self::Registry(reference) => {
                let pulled = oci::pull(reference, (sought, limit), TIME, logins, came).map_err(|source| {
                    FetchError::Registry { reference: reference.to_string(), source: Box::new(source) }
                })?;
                (pulled.bytes, Some(pulled.manifest))
            }
        };
        if bytes.len() as u64 > limit {
            return Err(too_large());
        }
        Ok((bytes, manifest))
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

/// At most one byte more than `limit`; none where more than that is announced.
fn download(address: &Url, limit: u64, came: &mut dyn FnMut(u64)) -> Result<Option<Vec<u8>>, FetchError> {
    let request = |source: ureq::Error| FetchError::Request { address: address.clone(), source: Box::new(source) };
    let response = get(&agent(address, TIME), address).map_err(request)?;
    let announced = response.body().content_length();
    if announced.is_some_and(|bytes| bytes > limit) {
        return Ok(None);
    }
    let read = read_body(response, limit, came);
    read.map(Some).map_err(|source| FetchError::Broken { address: address.clone(), source })
}

#[cfg(test)]
mod tests;
