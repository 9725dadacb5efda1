//! What a component says of itself: name, version, licence and the like, and the libraries in it,
//! in the sections that registries and scanners read.

use std::path::Path;

use auditable_serde::VersionInfo;
use wasm_encoder::ComponentSection as _;
use wasm_metadata::{
    AddMetadata, AddMetadataField, Authors, Dependencies, Description, Homepage, Licenses, Source, Version,
};

use crate::error::AuthorError;

/// What a manifest says of the plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ManifestMetadata {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) licence: Option<String>,
    pub(crate) homepage: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) authors: Option<String>,
}

/// Writes it into a component.
pub(crate) fn stamp(
    component: &[u8],
    metadata: &ManifestMetadata,
    libraries: Option<VersionInfo>,
    manifest: &Path,
) -> Result<Vec<u8>, AuthorError> {
    let problem = |what: &str, value: &str, error: &dyn std::fmt::Display| AuthorError::Manifest {
        manifest: manifest.to_owned(),
        problem: format!("{what} `{value}` cannot stand in a component: {error}"),
    };
    let mut add = AddMetadata::default();
    add.name = AddMetadataField::Set(metadata.name.clone());
    let said = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
    if let Some(version) = said(&metadata.version) {
        add.version = AddMetadataField::Set(Version::new(version));
    }
    if let Some(description) = said(&metadata.description) {
        add.description = AddMetadataField::Set(Description::new(description));
    }
    if let Some(authors) = said(&metadata.authors) {
        add.authors = AddMetadataField::Set(Authors::new(authors));
    }
    if let Some(licence) = said(&metadata.licence) {
        let parsed = Licenses::new(&licence).map_err(|error| problem("the licence", &licence, &error))?;
        add.licenses = AddMetadataField::Set(parsed);
    }
    if let Some(homepage) = said(&metadata.homepage) {
        let parsed = Homepage::new(&homepage).map_err(|error| problem("the homepage", &homepage, &error))?;
        add.homepage = AddMetadataField::Set(parsed);
    }
    if let Some(repository) = said(&metadata.repository) {
        let parsed = Source::new(&repository).map_err(|error| problem("the repository", &repository, &error))?;
        add.source = AddMetadataField::Set(parsed);
    }
    add.processed_by = vec![("wharf".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
    let malformed = |error| AuthorError::NoComponent(format!("what was built is no component: {error}"));
    let mut stamped = add.to_wasm(component).map_err(malformed)?;
    if let Some(libraries) = libraries {
        Dependencies::new(libraries).map_err(malformed)?.append_to_component(&mut stamped);
    }
    Ok(stamped)
}
