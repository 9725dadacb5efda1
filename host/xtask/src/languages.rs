//! The tool of the benchmark in other languages: components made by those languages' own tools,
//! which PyPI and npm have. Knows nothing of how they are measured.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::node;
use crate::python;
use crate::workspace::Workspace;

/// A language, and what makes its component.
type Language = (&'static str, fn(&Workspace, &Path, &Path) -> Result<()>);

const LANGUAGES: [Language; 2] = [("python", componentize_python), ("javascript", componentize_javascript)];

/// Makes each component anew (seconds) and returns what the benchmark is told of them.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<OsString>> {
    let folder = workspace.target().join("languages");
    fs::create_dir_all(&folder)?;
    let mut told = Vec::new();
    for (language, componentize) in LANGUAGES {
        let source = workspace.root.join("tests").join("guests").join("languages").join(language);
        let component = folder.join(format!("{language}.wasm"));
        componentize(workspace, &source, &component)?;
        let mut guest = OsString::from(format!("{language}="));
        guest.push(component);
        told.extend(["--guest".into(), guest]);
    }
    Ok(told)
}

fn componentize_python(workspace: &Workspace, source: &Path, component: &Path) -> Result<()> {
    let python = python::interpreter(workspace, "componentize-py", &source.join("requirements.txt"))?;
    let mut make = Command::new(python.with_file_name("componentize-py"));
    make.arg("--wit-path").arg(wit(workspace)).args(["--world", "plugin", "componentize", "echo", "--python-path"]);
    command::run(make.arg(source).arg("--output").arg(component))
}

fn componentize_javascript(workspace: &Workspace, source: &Path, component: &Path) -> Result<()> {
    let folder = workspace.target().join("componentize-qjs");
    node::install_once(source, &folder, "what makes components of JavaScript")?;
    let mut make = Command::new(node::program(&folder)?);
    make.arg(folder.join("node_modules").join("componentize-qjs").join("bin").join("componentize-qjs"))
        .arg("--wit")
        .arg(wit(workspace));
    // Its asynchronous engine needs a later component model than the contract.
    make.args(["--world", "plugin", "--sync", "--js"]).arg(source.join("echo.mjs"));
    command::run(make.arg("--output").arg(component))
}

fn wit(workspace: &Workspace) -> PathBuf {
    workspace.root.join("wit")
}
