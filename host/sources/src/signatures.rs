//! Signatures of a component, where it came from: beside its file, beside its address, or as
//! referrers of its manifest in a registry.
//!
//! Finds and bounds them. Who signed, and whether that counts, is decided elsewhere.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use url::Url;
use wharf_files::regular_file;

use crate::{
    client::{agent, get, read_body},
    fetch::FetchError,
    oci::{self, RegistryLogins},
    source::PluginSource,
};

/// What follows the name of a component in that of its signature: what `minisign -S` and
/// `cosign sign-blob --bundle` are told to write.
pub const SIGNATURE_ENDINGS: [&str; 3] = [".minisig", ".sigstore.json", ".sigstore"];

/// Bytes that one signature may have: a bundle with the provenance of a large build has some ten
/// thousand.
pub const SIGNATURE_BYTES: u64 = 256 << 10;

/// How long looking for signatures may take.
const TIME: Duration = Duration::from_secs(60);

/// A file that may be a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedSignature {
    /// Where it lies, in words for a person.
    pub from: String,
    /// What it has.
    pub bytes: Vec<u8>,
}

/// What was found beside a component. Nothing of it is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedSignatures {
    /// The files, as they came.
    pub files: Vec<FetchedSignature>,
    /// The manifest by which a registry names the component: what a signature there may be over.
    pub manifest: Option<Vec<u8>>,
}

/// The files in which a component's signatures are looked for, one for each of
/// [`SIGNATURE_ENDINGS`].
#[must_use]
pub fn signature_files(component: &Path) -> [PathBuf; 3] {
    SIGNATURE_ENDINGS.map(|ending| {
        let mut name = component.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// The signatures beside the file of a component, and what is there and cannot be read.
pub fn signatures_beside(component: &Path) -> impl Iterator<Item = Result<FetchedSignature, FetchError>> {
    signature_files(component).into_iter().filter_map(|path| match regular_file::read(&path, SIGNATURE_BYTES) {
        Ok(bytes) => Some(checked(bytes, &path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => Some(Err(FetchError::File { path, source })),
    })
}

impl PluginSource {
    /// The signatures of a component that was fetched from here; `manifest` is the digest that
    /// [`FetchedComponent::manifest`](crate::FetchedComponent::manifest) had. None is no error. Blocks, a
    /// minute at most.
    ///
    /// # Errors
    /// See [`FetchError`]: a place that cannot be looked at is no place without signatures.
    pub fn signatures(&self, manifest: Option<&str>, logins: &RegistryLogins) -> Result<FetchedSignatures, FetchError> {
        match self {
            Self::File(component) => {
                let files = signatures_beside(component).collect::<Result<_, _>>()?;
                Ok(FetchedSignatures { files, manifest: None })
            }
            Self::Address(address) => of_address(address),
            Self::Registry(reference) => oci::signatures(reference, manifest, TIME, logins)
                .map_err(|source| FetchError::Registry { reference: reference.to_string(), source: Box::new(source) }),
        }
    }
}

fn of_address(address: &Url) -> Result<FetchedSignatures, FetchError> {
    let agent = agent(address, TIME);
    let mut files = Vec::new();
    for ending in SIGNATURE_ENDINGS {
        let mut beside = address.clone();
        beside.set_path(&format!("{}{ending}", address.path()));
        let request = |source: ureq::Error| FetchError::Request { address: beside.clone(), source: Box::new(source) };
        let response = match get(&agent, &beside) {
            Ok(response) => response,
            // What object stores say of what is not there, too.
            Err(ureq::Error::StatusCode(403 | 404 | 410)) => continue,
            Err(error) => return Err(request(error)),
        };
        let read = read_body(response, SIGNATURE_BYTES, &mut |_| {});
        let bytes = read.map_err(|source| FetchError::Broken { address: beside.clone(), source })?;
        files.push(checked(bytes, &beside)?);
    }
    Ok(FetchedSignatures { files, manifest: None })
}

fn checked(bytes: Vec<u8>, from: &dyn std::fmt::Display) -> Result<FetchedSignature, FetchError> {
    let from = from.to_string();
    match bytes.len() as u64 > SIGNATURE_BYTES {
        true => Err(FetchError::LongSignature { from, limit: SIGNATURE_BYTES }),
        false => Ok(FetchedSignature { from, bytes }),
    }
}

#[cfg(test)]
mod tests;
