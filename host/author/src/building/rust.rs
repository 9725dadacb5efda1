//! Rust: cargo, for the target `wasm32-wasip2`.

mod libraries;

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use auditable_serde::VersionInfo;
use serde::Deserialize;

use super::tool::{RawComponent, Tool};
use crate::{error::AuthorError, metadata::ManifestMetadata};

const TARGET: &str = "wasm32-wasip2";

/// Arguments of `cargo build` that forbid it to fetch or to choose other versions.
const WITHOUT_NETWORK: [&str; 3] = ["--frozen", "--locked", "--offline"];

pub(super) const CARGO: Tool =
    Tool { program: "cargo", remedy: "install Rust from https://rustup.rs, then `rustup target add wasm32-wasip2`" };

/// What cargo says of a package.
#[derive(Debug, Deserialize)]
struct CargoPackage {
    name: String,
    version: String,
    description: Option<String>,
    license: Option<String>,
    homepage: Option<String>,
    repository: Option<String>,
    #[serde(default)]
    authors: Vec<String>,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
}

/// A line of `cargo build --message-format=json`.
#[derive(Debug, Deserialize)]
struct CargoMessage {
    reason: String,
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    /// Of a program.
    executable: Option<PathBuf>,
}

pub(super) fn build(folder: &Path, arguments: &[OsString]) -> Result<RawComponent, AuthorError> {
    let Resolved { package, libraries, target, workspace } = resolved(folder, arguments)?;
    let mut cargo = CARGO.command(folder);
    cargo.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    cargo.args(["--config", &format!("target.{TARGET}.rustflags={:?}", remapped(workspace, target))]);
    cargo.args(arguments);
    let (status, printed) = CARGO.run(&mut cargo)?;
    if !status.success() {
        return Err(match has_target(folder) {
            Some(false) => {
                AuthorError::Missing { program: TARGET, remedy: "`rustup target add wasm32-wasip2` adds the target" }
            }
            _ => CARGO.failed(&cargo, status),
        });
    }
    let component = artifact(&printed, &package.manifest_path).ok_or_else(|| {
        AuthorError::NoComponent(format!(
            "cargo built no .wasm of {}: its Cargo.toml needs [lib] with crate-type = [\"cdylib\", \"rlib\"]",
            package.name
        ))
    })?;
    let bytes = fs::read(&component).map_err(AuthorError::file(&component))?;
    Ok(RawComponent { bytes, libraries, metadata: package.into() })
}

/// What the manifest in the folder says.
pub(super) fn manifest(folder: &Path) -> Result<ManifestMetadata, AuthorError> {
    let metadata = read(folder, &metadata(folder, ["--no-deps"])?)?;
    package(folder, metadata.packages).map(ManifestMetadata::from)
}

/// Where cargo builds what is in the folder.
pub(super) fn target_folder(folder: &Path) -> Result<PathBuf, AuthorError> {
    read(folder, &metadata(folder, ["--no-deps"])?).map(|metadata| metadata.target_directory)
}

impl From<CargoPackage> for ManifestMetadata {
    fn from(package: CargoPackage) -> Self {
        let CargoPackage { name, version, description, license, homepage, repository, authors, .. } = package;
        let authors = Some(authors.join(", ")).filter(|authors| !authors.is_empty());
        Self { name, version: Some(version), description, licence: license, homepage, repository, authors }
    }
}

/// Paths of this machine as they are written into the component: the same on every machine. All
/// plugins of a workspace have the same, so that each shares the crates that another one was built of:
/// cargo builds them anew where it is told other paths.
fn remapped(workspace: PathBuf, target: PathBuf) -> Vec<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    // The last one that fits counts.
    let paths = [Some((workspace, "/plugin")), home.map(|home| (home, "/cargo")), Some((target, "/target"))];
    let flag = |(path, name): (PathBuf, &str)| format!("--remap-path-prefix={}={name}", path.display());
    paths.into_iter().flatten().map(flag).collect()
}

/// Whether the compiler has the library of the target; nothing where it does not say.
fn has_target(folder: &Path) -> Option<bool> {
    let rustc = Tool { program: "rustc", remedy: CARGO.remedy };
    let (status, printed) =
        rustc.run(rustc.command(folder).args(["--print", "target-libdir", "--target", TARGET])).ok()?;
    let library = PathBuf::from(String::from_utf8(printed).ok().filter(|_| status.success())?.trim());
    Some(fs::read_dir(library).is_ok_and(|mut entries| entries.next().is_some()))
}

/// What is built, and where.
struct Resolved {
    package: CargoPackage,
    /// The crates that it is built of.
    libraries: Option<VersionInfo>,
    target: PathBuf,
    workspace: PathBuf,
}

/// The package whose manifest lies in the folder. Cargo is asked once: it takes a good part of the
/// time in which a save is built.
fn resolved(folder: &Path, arguments: &[OsString]) -> Result<Resolved, AuthorError> {
    // What keeps the build from the network keeps this from it.
    let kept_away = arguments.iter().filter(|argument| WITHOUT_NETWORK.iter().any(|known| argument == known));
    let wanted = ["--filter-platform", TARGET].map(OsString::from);
    let printed = metadata(folder, wanted.iter().chain(kept_away))?;
    // A later cargo may say it in other words; the component is none the worse.
    let libraries = serde_json::from_slice(&printed).ok().and_then(|resolved| libraries::libraries(&resolved));
    let CargoMetadata { packages, target_directory: target, workspace_root: workspace } = read(folder, &printed)?;
    Ok(Resolved { package: package(folder, packages)?, libraries, target, workspace })
}

/// What cargo says of the folder, as JSON.
fn metadata(folder: &Path, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Vec<u8>, AuthorError> {
    let mut cargo = CARGO.command(folder);
    cargo.args(["metadata", "--format-version", "1"]).args(arguments);
    let (status, printed) = CARGO.run(&mut cargo)?;
    if status.success() { Ok(printed) } else { Err(CARGO.failed(&cargo, status)) }
}

/// The package whose manifest lies in the folder, of those that cargo told.
fn package(folder: &Path, packages: Vec<CargoPackage>) -> Result<CargoPackage, AuthorError> {
    let manifest = folder.join("Cargo.toml");
    let real = manifest.canonicalize().ok();
    let same = |path: &Path| path == manifest || (real.is_some() && path.canonicalize().ok() == real);
    let package = packages.into_iter().find(|package| same(&package.manifest_path));
    let problem = || "it is a workspace and no package; build one of its members".to_owned();
    package.ok_or_else(|| AuthorError::Manifest { manifest, problem: problem() })
}

fn read(folder: &Path, printed: &[u8]) -> Result<CargoMetadata, AuthorError> {
    let problem = |error| format!("what cargo says of it cannot be read: {error}");
    serde_json::from_slice(printed)
        .map_err(|error| AuthorError::Manifest { manifest: folder.join("Cargo.toml"), problem: problem(error) })
}

/// The programs that cargo built.
pub(super) fn test_programs(printed: &[u8]) -> Vec<PathBuf> {
    messages(printed).filter_map(|message| message.executable).collect()
}

fn messages(printed: &[u8]) -> impl Iterator<Item = CargoMessage> {
    let lines = printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// The component that cargo built of this package.
fn artifact(printed: &[u8], manifest: &Path) -> Option<PathBuf> {
    let built = messages(printed)
        .filter(|message| message.reason == "compiler-artifact" && message.manifest_path.as_deref() == Some(manifest));
    let mut files = built.flat_map(|message| message.filenames);
    files.find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_component_of_the_package_itself_is_taken() {
        let line = |manifest: &str, file: &str| {
            format!("{{\"reason\":\"compiler-artifact\",\"manifest_path\":{manifest:?},\"filenames\":[{file:?}]}}\n")
        };
        let printed = [
            "no JSON\n".to_owned(),
            line("/kit/Cargo.toml", "/t/kit.wasm"),
            line("/p/Cargo.toml", "/t/libp.rlib"),
            line("/p/Cargo.toml", "/t/p.wasm"),
            "{\"reason\":\"build-finished\",\"success\":true}\n".to_owned(),
        ]
        .concat();
        assert_eq!(artifact(printed.as_bytes(), Path::new("/p/Cargo.toml")), Some(PathBuf::from("/t/p.wasm")));
        assert_eq!(artifact(printed.as_bytes(), Path::new("/other/Cargo.toml")), None);
    }
}
