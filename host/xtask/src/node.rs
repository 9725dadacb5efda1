//! Node.js and the packages of npm that a folder pins: installed below `target`, kept
//! while what is pinned stays the same. Knows nothing of what the packages do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::command::{self, say};
use crate::debian;
use crate::workspace::Workspace;

const PINNED: [&str; 2] = ["package.json", "package-lock.json"];

/// Where scripts run, and what runs them.
pub(crate) struct Node {
    pub(crate) program: PathBuf,
    /// Holds the packages, and the scripts of the folder.
    pub(crate) folder: PathBuf,
}

/// Installs what `source` pins, and puts its scripts beside it: a script finds the
/// packages that lie beside it.
pub(crate) fn prepare(workspace: &Workspace, source: &Path) -> Result<Node> {
    let folder = workspace.target().join("node");
    install_once(source, &folder, "Node.js and the official tools of the protocol")?;
    for entry in fs::read_dir(source)? {
        let script = entry?.path();
        if let (Some(name), Some("mjs")) = (script.file_name(), script.extension().and_then(|kind| kind.to_str())) {
            fs::copy(&script, folder.join(name))?;
        }
    }
    Ok(Node { program: program(&folder)?, folder })
}

/// Installs what `source` pins into a folder, unless that has been done. Parts of a run that want
/// the same wait for the one that began.
pub(crate) fn install_once(source: &Path, folder: &Path, what: &str) -> Result<()> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    let wanted = PINNED
        .map(|name| fs::read_to_string(source.join(name)).with_context(|| format!("cannot read {name}")))
        .into_iter()
        .collect::<Result<String>>()?;
    let installed = folder.join("installed.txt");
    if !fs::read_to_string(&installed).is_ok_and(|present| present == wanted) {
        install(source, folder, what)?;
        // Last, so that an interrupted installation is made again.
        fs::write(installed, wanted)?;
    }
    Ok(())
}

fn install(source: &Path, folder: &Path, what: &str) -> Result<()> {
    ensure_npm()?;
    say(&format!("Installing {what} under {} (once; about a minute)", folder.display()));
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for name in PINNED {
        fs::copy(source.join(name), folder.join(name))?;
    }
    // No package's own script is run: none of these needs one.
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    command::capture(&mut npm).map(drop)
}

fn ensure_npm() -> Result<()> {
    if command::exists("npm") {
        return Ok(());
    }
    if !debian::install(&["npm"], "with which the conformance tests are installed")? {
        bail!("the conformance tests need npm: install it (Debian: apt-get install npm)");
    }
    Ok(())
}

/// The Node.js among the packages: the tools need a newer one than many systems have.
pub(crate) fn program(folder: &Path) -> Result<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = format!("node-linux-{architecture}");
    let program = folder.join("node_modules").join(&package).join("bin").join("node");
    if !program.is_file() {
        bail!("npm installed no `{package}`: the conformance tests run on Linux, x86-64 or 64-bit ARM");
    }
    Ok(program)
}
