//! Files about a component that lie where it does: beside its file, beside its address, or as
//! referrers of its manifest in a registry. Finds and bounds them, and knows none of their content.

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
    file_kind::{FetchedFile, FetchedFiles, FileKind},
    oci::{self, RegistryLogins},
    source::PluginSource,
};

/// How long looking for them may take.
const TIME: Duration = Duration::from_secs(60);

/// The file of this ending beside a component's, whether it is there or not.
pub(crate) fn named(component: &Path, ending: &str) -> PathBuf {
    let mut name = component.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Those that are there, and what is there and cannot be read.
pub(crate) fn of_file(component: &Path, kind: &FileKind) -> impl Iterator<Item = Result<FetchedFile, FetchError>> {
    kind.endings.iter().map(|ending| named(component, ending)).filter_map(|path| {
        match regular_file::read(&path, kind.limit) {
            Ok(bytes) => Some(checked(bytes, &path.display(), kind)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => Some(Err(FetchError::File { path, source })),
        }
    })
}

/// Those of a component that was fetched from a source; `manifest` is the digest that named it there.
pub(crate) fn of_source(
    source: &PluginSource,
    manifest: Option<&str>,
    logins: &RegistryLogins,
    kind: &FileKind,
) -> Result<FetchedFiles, FetchError> {
    match source {
        PluginSource::File(component) => {
            Ok(FetchedFiles { files: of_file(component, kind).collect::<Result<_, _>>()?, manifest: None })
        }
        PluginSource::Address(address) => of_address(address, kind),
        PluginSource::Registry(reference) => oci::files(reference, manifest, (TIME, kind), logins)
            .map_err(|source| FetchError::Registry { reference: reference.to_string(), source: Box::new(source) }),
    }
}

fn of_address(address: &Url, kind: &FileKind) -> Result<FetchedFiles, FetchError> {
    let agent = agent(address, TIME);
    let mut files = Vec::new();
    for ending in kind.endings {
        let mut beside = address.clone();
        beside.set_path(&format!("{}{ending}", address.path()));
        let request = |source: ureq::Error| FetchError::Request { address: beside.clone(), source: Box::new(source) };
        let response = match get(&agent, &beside) {
            Ok(response) => response,
            // What object stores say of what is not there, too.
            Err(ureq::Error::StatusCode(403 | 404 | 410)) => continue,
            Err(error) => return Err(request(error)),
        };
        let read = read_body(response, kind.limit, &mut |_| {});
        let bytes = read.map_err(|source| FetchError::Broken { address: beside.clone(), source })?;
        files.push(checked(bytes, &beside, kind)?);
    }
    Ok(FetchedFiles { files, manifest: None })
}

fn checked(bytes: Vec<u8>, from: &dyn std::fmt::Display, kind: &FileKind) -> Result<FetchedFile, FetchError> {
    let from = from.to_string();
    match bytes.len() as u64 > kind.limit {
        true => Err((kind.too_long)(from, kind.limit)),
        false => Ok(FetchedFile { from, bytes }),
    }
}
