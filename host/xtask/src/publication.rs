//! The packages of the library, the contract and the SDK: that cargo makes
//! them, and that they carry what their builds read.
//!
//! Knows which files those are. Publishes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::{self, say};
use crate::component;
use crate::components;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

/// What plugin authors depend on, and what that needs.
const OF_AUTHORS: [&str; 5] = ["wharf-contract", "wharf-sdk-macros", "wharf-sdk", "wharf-documents", "wharf-search"];

/// Which packages are built from what they carry, once they are made.
#[derive(Clone, Copy)]
pub(crate) enum PackageCheck {
    /// Those of plugin authors.
    Usual,
    /// Every one.
    BuildAll,
}

/// Makes every package that may be published, in one call: together, they need
/// no registry to find each other.
pub(crate) fn check(workspace: &Workspace, how: PackageCheck) -> Result<()> {
    components::build(workspace, false, Choice::from_environment()?)?;
    let texts = names(&workspace.root.join("wit"), "wit")?;
    carries(workspace, "wharf-contract", texts.iter().map(|name| format!("wit/{name}")))?;
    let plugins = components::names(workspace)?;
    carries(workspace, "wharf", plugins.iter().map(|name| format!("components/{name}.wasm")))?;
    carries(workspace, "wharf-sdk", ["src/lib.rs".to_owned(), "src/bindings.rs".to_owned()])?;

    let published: Vec<_> = workspace.packages()?.into_iter().filter(|package| package.is_published).collect();
    let all: Vec<_> = published.iter().map(|package| package.name.as_str()).collect();
    let built = match how {
        PackageCheck::BuildAll => {
            say("Making every package, and building each from what it carries (minutes)");
            make(workspace, &all, true)?;
            all.len()
        }
        PackageCheck::Usual => {
            // What the others lack, the lists above show as far as it is read by a build.
            say("Making every package");
            make(workspace, &all, false)?;
            say("Building those of plugin authors from what they carry");
            make(workspace, &OF_AUTHORS, true)?;
            OF_AUTHORS.len()
        }
    };
    println!("package: {} packages are made, {built} of them built from what they carry", all.len());
    Ok(())
}

/// Makes packages in one call of cargo.
fn make(workspace: &Workspace, packages: &[&str], builds: bool) -> Result<()> {
    // Apart from the workspace's own builds, which would have to be made again with it.
    let target = workspace.target().join("packages");
    forget_former(component::cargo_home().as_deref(), &target)?;
    let mut cargo = command::cargo(&workspace.root);
    cargo.args(["package", "--quiet", "--offline", "--allow-dirty"]);
    cargo.arg("--target-dir").arg(&target);
    if !builds {
        cargo.arg("--no-verify");
    }
    cargo.args(packages.iter().flat_map(|name| ["--package", name]));
    command::run(&mut cargo)
}

/// Removes what cargo unpacked and built of packages that were made before. It puts the packages of
/// one call into a registry of the moment, and takes the same version for the same sources.
fn forget_former(cargo_home: Option<&Path>, target: &Path) -> Result<()> {
    forget_ours(&target.join("debug/.fingerprint"))?;
    let Some(unpacked) = cargo_home.map(|home| home.join("registry/src")) else { return Ok(()) };
    let Ok(registries) = fs::read_dir(&unpacked) else { return Ok(()) };
    for registry in registries {
        let registry = registry?;
        // A registry of a folder has no name of a server before its number.
        if registry.file_name().to_string_lossy().starts_with('-') {
            forget_ours(&registry.path())?;
        }
    }
    Ok(())
}

/// Removes what a folder has of packages of this project.
fn forget_ours(folder: &Path) -> Result<()> {
    let Ok(packages) = fs::read_dir(folder) else { return Ok(()) };
    for package in packages {
        let package = package?;
        if package.file_name().to_string_lossy().starts_with("wharf-") {
            fs::remove_dir_all(package.path())?;
        }
    }
    Ok(())
}

/// Checks that the package `name` has the files.
fn carries(workspace: &Workspace, name: &str, files: impl IntoIterator<Item = String>) -> Result<()> {
    let mut cargo = command::cargo(&workspace.root);
    cargo.args(["package", "--list", "--offline", "--allow-dirty", "--package", name]);
    let listing = command::capture(&mut cargo)?;
    let missing = missing(&listing, files);
    if !missing.is_empty() {
        bail!("the package {name} does not carry {}", missing.join(", "));
    }
    Ok(())
}

/// The files that a listing of cargo does not have. Nothing outside the package is in one.
fn missing(listing: &str, files: impl IntoIterator<Item = String>) -> Vec<String> {
    let listed: BTreeSet<_> = listing.lines().map(|line| line.replace('\\', "/")).collect();
    files.into_iter().filter(|file| !listed.contains(file)).collect()
}

/// The files of a folder that end so.
fn names(folder: &Path, extension: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|present| present == extension) {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_before_are_forgotten_and_those_of_servers_kept() {
        let home = tempfile::tempdir().expect("a directory");
        let made = |path: &str| fs::create_dir_all(home.path().join("registry/src").join(path)).expect("a directory");
        let target = home.path().join("target");
        let built = target.join("debug/.fingerprint/wharf-contract-12ab");
        forget_former(Some(home.path()), &target).expect("nothing to do");
        fs::create_dir_all(&built).expect("a directory");
        let places = ["-12ab/wharf-contract-0.1.0", "-12ab/other-1.0.0", "index.crates.io-12ab/wharf-contract-0.1.0"];
        places.into_iter().for_each(made);
        forget_former(Some(home.path()), &target).expect("forgotten");
        assert!(!built.exists());
        let is_there = |path: &str| home.path().join("registry/src").join(path).exists();
        assert!(!is_there("-12ab/wharf-contract-0.1.0"));
        assert!(is_there("-12ab/other-1.0.0") && is_there("index.crates.io-12ab/wharf-contract-0.1.0"));
    }

    #[test]
    fn a_file_that_is_not_in_the_package_is_named() {
        let listing = "Cargo.toml\nwit/state.wit\nwit\\types.wit\n";
        let files = ["wit/state.wit", "wit/types.wit", "wit/tools.wit"].map(str::to_owned);
        assert_eq!(missing(listing, files), ["wit/tools.wit"]);
    }
}
