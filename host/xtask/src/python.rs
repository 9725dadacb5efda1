//! The Python environments of tests: made under `target`, each kept while its
//! requirements stay the same. Knows nothing of the tests themselves.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::command::{self, say};
use crate::debian;
use crate::workspace::Workspace;

/// Returns the interpreter of the environment `name`, which has what
/// `requirements` lists; sets it up where it is missing or out of date. Parts of a run that want
/// one at once wait for each other.
pub(crate) fn interpreter(workspace: &Workspace, name: &str, requirements: &Path) -> Result<PathBuf> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    let folder = workspace.target().join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted =
        fs::read_to_string(requirements).with_context(|| format!("cannot read {}", workspace.shown(requirements)))?;
    let installed = folder.join("installed-requirements.txt");
    if python.is_file() && fs::read_to_string(&installed).is_ok_and(|present| present == wanted) {
        return Ok(python);
    }
    say(&format!("Preparing Python under {} (once; about half a minute).", workspace.shown(&folder)));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    if command::exists("uv") {
        command::capture(Command::new("uv").args(["venv", "--quiet"]).arg(&folder))?;
        command::capture(
            Command::new("uv").args(["pip", "install", "--quiet", "--python"]).arg(&python).arg("-r").arg(requirements),
        )?;
    } else {
        create(&folder, &python)?;
        command::capture(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))?;
    }
    // Last, so that an interrupted set-up is made again.
    fs::write(installed, wanted)?;
    Ok(python)
}

/// Makes the environment: by the standard library, with Debian's package where
/// Debian left that part out, or by virtualenv.
fn create(folder: &Path, python: &Path) -> Result<()> {
    let system = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    if !command::exists(&system) {
        bail!("the tests with Python need Python 3.10 or newer: install python3, or name one in PYTHON");
    }
    let make = |module: &str| command::capture(Command::new(&system).args(["-m", module]).arg(folder));
    let Err(first) = make("venv") else { return Ok(()) };
    if debian::install(&["python3-venv"], "with which tests make their Python environment")?
        && make("venv").is_ok()
        && python.is_file()
    {
        return Ok(());
    }
    match make("virtualenv") {
        Ok(_) => Ok(()),
        Err(_) => Err(first).context("cannot make a Python environment: install python3-venv, virtualenv or uv"),
    }
}
