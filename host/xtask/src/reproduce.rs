//! `cargo xtask reproduce`: whether the plugins that the library carries, and the program, are the same bytes wherever they
//! are built.
//!
//! Builds them here, and once more of a copy of the tracked files in another folder. Knows no plugin by name.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::components;
use crate::distribution;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::Workspace;

const HELP: &str = "\
Builds the plugins that the host carries twice: here, and of a copy of the tracked
files in another folder. Prints the digest of each, and fails where two builds differ.

Takes some minutes: the copy shares nothing with this folder but the registry.

Usage: cargo xtask reproduce [OPTIONS]

Options:
  --program           The program, too, with its plugins in it, as `cargo xtask package`
                      builds and strips it (an hour on two cores)
  --profile NAME      Build the program with this profile of Cargo.toml (default distribution)
  -h, --help          This text

Example: what a release says of its plugins, checked by somebody else
  git checkout v0.1.0 && cargo xtask reproduce
";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut with_program, mut profile) = (false, distribution::PROFILE.to_owned());
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("program") => with_program = true,
            Arg::Long("profile") => profile = arguments.value()?.string()?,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    let toolchain = Toolchain::prepare(&workspace, Choice::from_environment()?)?;
    let here = components::bundled(&workspace, &toolchain)?;
    let elsewhere = Copy::of_tracked(&workspace.root)?;
    let copied = Workspace::at(elsewhere.0.clone())?;
    let there = components::bundled(&copied, &toolchain)?;
    let mut differing = Vec::new();
    let mut compare = |name: &str, path: &Path, other: &Path| -> Result<()> {
        let is_same = read(path)? == read(other)?;
        println!("{name:16} {} {}", sha256(path)?, if is_same { "the same" } else { "DIFFERENT" });
        if !is_same {
            differing.push(name.to_owned());
        }
        Ok(())
    };
    for ((name, path), (_, other)) in here.iter().zip(&there) {
        compare(name, path, other)?;
    }
    if with_program {
        // The copy has no history to tell the time of.
        let committed = distribution::committed(&workspace.root);
        let built = |workspace: &Workspace| -> Result<PathBuf> {
            let program = distribution::build(workspace, &profile, committed.as_deref())?;
            let stripped = program.with_extension("stripped");
            command::capture(Command::new("strip").arg("-o").arg(&stripped).arg(&program))?;
            Ok(stripped)
        };
        compare("wharf", &built(&workspace)?, &built(&copied)?)?;
    }
    if here.is_empty() || here.len() != there.len() {
        bail!("the copy has other plugins than this folder: commit what is new, or remove it");
    }
    if !differing.is_empty() {
        bail!("two builds differ: {}", differing.join(", "));
    }
    let program = if with_program { " and the program" } else { "" };
    say(&format!("{} plugins{program} are the same bytes in both folders", here.len()));
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cargo left no {}", path.display()))
}

fn sha256(path: &Path) -> Result<String> {
    let printed = command::capture(Command::new("sha256sum").arg(path))?;
    Ok(printed.split_whitespace().next().unwrap_or_default().to_owned())
}

/// A folder with the files that git knows, as they are here. Dropping it removes it.
struct Copy(PathBuf);

impl Copy {
    fn of_tracked(root: &Path) -> Result<Self> {
        let folder = env::temp_dir().join(format!("wharf-reproduced-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let copy = Self(folder);
        say(&format!("Copying the tracked files to {}", copy.0.display()));
        copy_tracked(root, &copy.0)?;
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Nobody needs it any more, and the system clears that place.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_tracked(from: &Path, to: &Path) -> Result<()> {
    let listed = Command::new("git").arg("-C").arg(from).args(["ls-files", "-z"]).output();
    let listed = listed.context("cannot ask git for the tracked files")?;
    if !listed.status.success() {
        bail!("git does not list the tracked files of {}", from.display());
    }
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = Path::new(OsStr::from_bytes(name));
        let (source, target) = (from.join(name), to.join(name));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        // One that was removed here is none of the copy.
        if source.is_file() {
            fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
        }
    }
    Ok(())
}
