//! JavaScript and TypeScript: types are checked, then `wharf-componentize` of the kit bundles the
//! main module and hands it to the tool of its engine.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::tool::{RawComponent, Tool};
use crate::{error::AuthorError, metadata::ManifestMetadata};

const NODE: Tool = Tool { program: "node", remedy: "install Node.js 20.19 or later from https://nodejs.org" };
const NPM_INSTALL: &str = "`npm install` in the folder of the plugin";

/// `package.json`, as far as it says something of the component.
#[derive(Debug, Deserialize)]
struct PackageJson {
    name: String,
    version: Option<String>,
    description: Option<String>,
    license: Option<String>,
    homepage: Option<String>,
    repository: Option<Linked>,
    author: Option<Linked>,
    #[serde(default)]
    wharf: WharfSection,
}

/// A text, or the object of npm that says the same.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Linked {
    Text(String),
    Object { url: Option<String>, name: Option<String> },
}

/// What the build needs to know.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WharfSection {
    main: Option<PathBuf>,
    engine: Option<String>,
    #[serde(default)]
    reasons: BTreeMap<String, String>,
}

pub(super) fn build(folder: &Path, arguments: &[OsString]) -> Result<RawComponent, AuthorError> {
    let package = package(folder)?;
    let modules = folder.join("node_modules");
    let componentize = modules.join("@wharf/sdk/bin/wharf-componentize.mjs");
    if !componentize.is_file() {
        return Err(AuthorError::Missing { program: "@wharf/sdk", remedy: NPM_INSTALL });
    }
    check_types(folder, &modules)?;
    let unfinished =
        tempfile::Builder::new().suffix(".wasm").tempfile().map_err(AuthorError::file("a temporary file"))?;
    let mut node = NODE.command(folder);
    let main = package.wharf.main.clone().unwrap_or_else(|| PathBuf::from("src/plugin.js"));
    node.arg(componentize).arg(main).arg("--output").arg(unfinished.path());
    if let Some(engine) = &package.wharf.engine {
        node.args(["--engine", engine]);
    }
    for (capability, reason) in &package.wharf.reasons {
        node.args(["--reason", &format!("{capability}={reason}")]);
    }
    let (status, _) = NODE.run(node.args(arguments))?;
    if !status.success() {
        return Err(AuthorError::Failed { command: "wharf-componentize".to_owned(), status: status.to_string() });
    }
    let bytes = fs::read(unfinished.path()).map_err(AuthorError::file(unfinished.path()))?;
    Ok(RawComponent { bytes, metadata: package.into(), libraries: None })
}

/// What the manifest in the folder says.
pub(super) fn manifest(folder: &Path) -> Result<ManifestMetadata, AuthorError> {
    package(folder).map(ManifestMetadata::from)
}

fn package(folder: &Path) -> Result<PackageJson, AuthorError> {
    let manifest = folder.join("package.json");
    let text = fs::read(&manifest).map_err(AuthorError::file(&manifest))?;
    serde_json::from_slice(&text).map_err(|error| AuthorError::Manifest { manifest, problem: error.to_string() })
}

/// A bundler takes types away unread. Where the folder has a compiler, it reads them first.
fn check_types(folder: &Path, modules: &Path) -> Result<(), AuthorError> {
    let compiler = modules.join("typescript/bin/tsc");
    if !compiler.is_file() || !folder.join("tsconfig.json").is_file() {
        return Ok(());
    }
    let (status, told) = NODE.run(NODE.command(folder).arg(compiler).arg("--noEmit"))?;
    if status.success() {
        return Ok(());
    }
    // It says what is wrong on standard output, which is a client's under `wharf dev --stdio`.
    let _told = std::io::stderr().write_all(&told);
    Err(AuthorError::Failed { command: "tsc".to_owned(), status: status.to_string() })
}

impl From<PackageJson> for ManifestMetadata {
    fn from(package: PackageJson) -> Self {
        let PackageJson { name, version, description, license, homepage, repository, author, .. } = package;
        // A scope is its publisher's.
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        Self {
            name,
            version,
            description,
            licence: license,
            homepage,
            repository: repository.and_then(|repository| match repository {
                Linked::Text(text) => Some(text),
                Linked::Object { url, .. } => url,
            }),
            authors: author.and_then(|author| match author {
                Linked::Text(text) => Some(text),
                Linked::Object { name, .. } => name,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_of_npm_say_the_same_in_several_ways() {
        let read = |text: &str| ManifestMetadata::from(serde_json::from_str::<PackageJson>(text).expect("a manifest"));
        let long = read(
            r#"{"name": "@me/p", "author": {"name": "Ada"}, "repository": {"type": "git", "url": "https://a.example"}}"#,
        );
        assert_eq!(
            (long.name.as_str(), long.authors.as_deref(), long.repository.as_deref()),
            ("p", Some("Ada"), Some("https://a.example"))
        );
        let short = read(r#"{"name": "p", "author": "Ada", "repository": "https://a.example"}"#);
        assert_eq!(short, ManifestMetadata { ..long });
    }
}
