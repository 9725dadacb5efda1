//! What is installed beside the program: what shells and `man` know of it, and what it is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Release;
use crate::command;
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
    let mut tree = command::cargo(&workspace.root);
    let tree =
        tree.args(["tree", "--locked", "--package=wharf-cli", "--edges=normal", "--prefix=none", "--format={p}"]);
    // `NAME vVERSION`, and what it came from.
    let linked: BTreeSet<(String, String)> = command::capture(tree)?
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
        })
        .collect();
    let metadata =
        command::capture(command::cargo(&workspace.root).args(["metadata", "--locked", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata did not print JSON")?;
    let mut parts = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        if !linked.contains(&(name.clone(), version.clone())) {
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

/// Every text under which something of the program is passed on, each once, and of which crates.
fn licences(parts: &[Part]) -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut listed = String::from("Wharf is made of these crates, under these licences.\n\n");
    for part in parts {
        let shown = format!("{} {}", part.name, part.version);
        listed.push_str(&format!("{shown}: {}\n", if part.licence.is_empty() { "see below" } else { &part.licence }));
        for entry in fs::read_dir(&part.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_file() && LICENCES.iter().any(|start| name.starts_with(start)) {
                let text = String::from_utf8_lossy(&fs::read(&path)?).trim().to_owned();
                texts.entry(text).or_default().insert(shown.clone());
            }
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
