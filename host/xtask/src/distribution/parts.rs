//! What is installed beside the program: what shells and `man` know of it, and what it is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Release;
use crate::command;
use crate::record::{self, Pinned};
use crate::workspace::Workspace;

/// Files of a crate that say under which conditions it may be passed on.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// A crate that is a part of the program.
struct Part {
    name: String,
    version: String,
    licence: String,
    repository: String,
    folder: PathBuf,
}

impl Part {
    /// Its licences, and those of a library whose sources it brings in a folder of its own.
    fn licence_files(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for path in paths_in(&self.folder)? {
            if path.is_dir() && brings_sources(&self.name) {
                found.extend(paths_in(&path)?.into_iter().filter(|path| is_licence(path)));
            } else if is_licence(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

fn paths_in(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    path.is_file() && LICENCES.iter().any(|start| name.starts_with(start))
}

/// Lays out everything below `tree` as below `/usr`.
pub(super) fn gather(workspace: &Workspace, release: &Release, tree: &Path) -> Result<()> {
    let program = tree.join("bin/wharf");
    make_parent(&program)?;
    fs::copy(&release.binary, &program)?;
    // What is left out helps a debugger alone.
    command::capture(Command::new("strip").arg(&program))?;
    let shells = [
        ("bash", "share/bash-completion/completions/wharf"),
        ("zsh", "share/zsh/site-functions/_wharf"),
        ("fish", "share/fish/vendor_completions.d/wharf.fish"),
    ];
    for (shell, path) in shells {
        write(&tree.join(path), &command::capture(Command::new(&program).args(["completions", shell]))?)?;
    }
    let pages = tree.join("share/man/man1");
    command::capture(Command::new(&program).args(["man", "--output"]).arg(&pages))?;
    for file in ["LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"] {
        let to = tree.join("share/doc/wharf").join(file);
        make_parent(&to)?;
        fs::copy(workspace.root.join(file), to)?;
    }
    for unit in ["wharf.service", "wharf.socket"] {
        let text = fs::read_to_string(workspace.root.join("deploy/systemd").join(unit))?;
        write(&tree.join("lib/systemd/system").join(unit), &text)?;
    }
    let parts = parts_of(workspace)?;
    write(&tree.join("share/doc/wharf/licences.txt"), &licences(&parts)?)?;
    let bill = serde_json::to_string_pretty(&bill(&parts, release))?;
    write(&tree.join("share/doc/wharf/sbom.cdx.json"), &bill)
}

/// The crates that the program is linked of, by cargo's own account.
fn parts_of(workspace: &Workspace) -> Result<Vec<Part>> {
    let mut linked = record::of_command(workspace, "normal")?;
    // What brings the sources of a library for another package to compile is in the program, though no code of its own.
    let also_built = record::of_command(workspace, "normal,build")?;
    linked.extend(also_built.into_iter().filter(|package| brings_sources(&package.name)));
    let metadata =
        command::capture(command::cargo(&workspace.root).args(["metadata", "--locked", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata did not print JSON")?;
    let mut parts = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        if !linked.contains(&Pinned { name: name.clone(), version: version.clone() }) {
            continue;
        }
        let manifest = PathBuf::from(text("manifest_path"));
        let folder = manifest.parent().context("a manifest without a folder")?.to_owned();
        parts.push(Part { name, version, licence: text("license"), repository: text("repository"), folder });
    }
    if parts.len() < linked.len() / 2 {
        bail!("cargo knows {} of the {} crates that the program is made of", parts.len(), linked.len());
    }
    parts.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(parts)
}

/// Whether a package brings the sources of a library, by the custom of its name.
fn brings_sources(name: &str) -> bool {
    name.ends_with("-src")
}

/// Every text under which something of the program is passed on, each once, and of which crates.
fn licences(parts: &[Part]) -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut listed = String::from("Wharf is made of these crates, under these licences.\n\n");
    for part in parts {
        let shown = format!("{} {}", part.name, part.version);
        listed.push_str(&format!("{shown}: {}\n", if part.licence.is_empty() { "see below" } else { &part.licence }));
        for path in part.licence_files()? {
            let text = String::from_utf8_lossy(&fs::read(&path)?).trim().to_owned();
            texts.entry(text).or_default().insert(shown.clone());
        }
    }
    for (text, of) in texts {
        let of: Vec<_> = of.into_iter().collect();
        listed.push_str(&format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), of.join(", ")));
    }
    Ok(listed)
}

/// The parts as CycloneDX 1.5 (<https://cyclonedx.org/docs/1.5/json/>), without the time of its making.
fn bill(parts: &[Part], release: &Release) -> Value {
    let component = |part: &Part| {
        let mut component = json!({
            "type": "library",
            "bom-ref": format!("pkg:cargo/{}@{}", part.name, part.version),
            "name": part.name,
            "version": part.version,
            "purl": format!("pkg:cargo/{}@{}", part.name, part.version),
        });
        if !part.licence.is_empty() {
            component["licenses"] = json!([{"expression": part.licence.replace('/', " OR ")}]);
        }
        if part.repository.starts_with("http") {
            component["externalReferences"] = json!([{"type": "vcs", "url": part.repository}]);
        }
        component
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": "wharf", "name": "wharf", "version": release.version,
            "licenses": [{"expression": "Apache-2.0"}],
            "properties": [{"name": "wharf:glibc", "value": release.c_library.to_string()}],
        }},
        "components": parts.iter().map(component).collect::<Vec<_>>(),
    })
}

fn make_parent(path: &Path) -> Result<()> {
    Ok(fs::create_dir_all(path.parent().context("a path within a folder")?)?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    Ok(fs::write(path, text)?)
}

/// Copies a folder with all that it has.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, to) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() { copy(&path, &to)? } else { fs::copy(&path, &to).map(drop)? }
    }
    Ok(())
}
