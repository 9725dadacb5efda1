//! The kit for JavaScript and TypeScript: compiled, its tests on Node.js, and its package in a real
//! host on both engines.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use super::{KitOutcome, not_tested};
use crate::command::{self, say};
use crate::node;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace, guests: &Path) -> Result<KitOutcome> {
    let kit = match JavaScriptKit::prepare(workspace) {
        Ok(kit) => kit,
        Err(error) => return Ok(not_tested("JavaScript", &error)),
    };
    say("Testing the kit of JavaScript");
    if let Err(error) = kit.build().and_then(|()| kit.npm(&kit.folder, &["test", "--silent"])) {
        return Ok((Err(error), Vec::new()));
    }
    let mut trial = Command::new("node");
    trial.arg("test/in-host.mjs").arg(workspace.binary("debug", "wharf")).arg(guests);
    trial.arg(workspace.root.join("tests/kits"));
    trial.current_dir(&kit.folder).env("PATH", kit.path());
    let closes =
        |line: &str| line.starts_with("FAILED ") || line.contains("checks hold") || line.contains("checks failed");
    let (tried, said) = command::run_and_keep(&mut trial, closes)?;
    Ok((tried, said.into_iter().map(|line| format!("kits: JavaScript: {line}")).collect()))
}

/// The kit of JavaScript in a copy of its place in the repository, with its packages.
pub(crate) struct JavaScriptKit {
    folder: PathBuf,
    path: OsString,
}

impl JavaScriptKit {
    /// What its tests need beside what npm installs.
    const PARTS: [&str; 9] =
        ["bin", "examples", "scripts", "src", "test", "wasi", "tsconfig.json", "tsconfig.examples.json", "README.md"];

    /// Compiles the kit as its sources are now, once in a run.
    pub(crate) fn build(&self) -> Result<()> {
        static BUILT: Mutex<bool> = Mutex::new(false);
        let mut is_built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_built {
            self.npm(&self.folder, &["run", "--silent", "build"])?;
            *is_built = true;
        }
        Ok(())
    }

    pub(crate) fn prepare(workspace: &Workspace) -> Result<Self> {
        let (source, copy) = (workspace.root.join("sdk/javascript"), workspace.target().join("javascript-kit"));
        let folder = copy.join("sdk/javascript");
        // Once in a run: another part may be reading what is copied.
        static COPIED: Mutex<bool> = Mutex::new(false);
        let mut is_copied = COPIED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_copied {
            node::install_once(&source, &folder, "what compiles the kit of JavaScript")?;
            for part in Self::PARTS {
                copy_over(&source.join(part), &folder.join(part))?;
            }
            copy_over(&workspace.root.join("wit"), &copy.join("wit"))?;
            copy_over(&workspace.root.join("LICENSE"), &copy.join("LICENSE"))?;
            *is_copied = true;
        }
        drop(is_copied);
        // The Node.js that the tools of the benchmark are run with: the system's may be too old.
        let (tools, installed) =
            (workspace.root.join("tests/guests/languages/javascript"), workspace.target().join("componentize-qjs"));
        node::install_once(&tools, &installed, "what makes components of JavaScript")?;
        let node = node::program(&installed)?;
        let programs = node.parent().context("a program lies in a folder")?;
        Ok(Self { folder, path: command::search_path(programs, None)? })
    }

    /// The search path, with the Node.js that runs it all.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    /// Runs npm in a folder.
    pub(crate) fn npm(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        command::run(Command::new("npm").args(arguments).current_dir(folder).env("PATH", &self.path))
    }
}

/// Copies a file, or a folder with all that is in it, over what is there.
fn copy_over(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_over(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
