//! Components in other languages, made by those languages' own tools, which PyPI and npm have.
//! Knows nothing of how they are measured or tested.

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
type Language = (&'static str, fn(&Workspace, &Source<'_>, &Path) -> Result<()>);

/// The languages that componentise by tools of their own.
pub(crate) const LANGUAGES: [Language; 2] = [("python", componentize_python), ("javascript", componentize_javascript)];

/// What a component is made of.
pub(crate) struct Source<'s> {
    /// The folder with the program.
    pub(crate) folder: &'s Path,
    /// The program, without its ending.
    pub(crate) program: &'s str,
    pub(crate) wit: &'s Path,
    pub(crate) world: &'s str,
}

/// Makes each component of the benchmark anew (seconds) and returns what the benchmark is told of
/// them.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<OsString>> {
    let folder = workspace.target().join("languages");
    fs::create_dir_all(&folder)?;
    let wit = workspace.root.join("wit");
    let mut told = Vec::new();
    for (language, componentize) in LANGUAGES {
        let source = tools(workspace).join(language);
        let component = folder.join(format!("{language}.wasm"));
        componentize(workspace, &Source { folder: &source, program: "echo", wit: &wit, world: "plugin" }, &component)?;
        let mut guest = OsString::from(format!("{language}="));
        guest.push(component);
        told.extend(["--guest".into(), guest]);
    }
    Ok(told)
}

/// The folder with what is to be installed for each language.
fn tools(workspace: &Workspace) -> PathBuf {
    workspace.root.join("tests").join("guests").join("languages")
}

fn componentize_python(workspace: &Workspace, source: &Source<'_>, component: &Path) -> Result<()> {
    let requirements = tools(workspace).join("python").join("requirements.txt");
    let python = python::interpreter(workspace, "componentize-py", &requirements)?;
    let mut make = Command::new(python.with_file_name("componentize-py"));
    make.arg("--wit-path").arg(source.wit).args(["--world", source.world, "componentize", source.program]);
    command::run(make.arg("--python-path").arg(source.folder).arg("--output").arg(component))
}

fn componentize_javascript(workspace: &Workspace, source: &Source<'_>, component: &Path) -> Result<()> {
    let folder = workspace.target().join("componentize-qjs");
    node::install_once(&tools(workspace).join("javascript"), &folder, "what makes components of JavaScript")?;
    let mut make = Command::new(node::program(&folder)?);
    make.arg(folder.join("node_modules").join("componentize-qjs").join("bin").join("componentize-qjs"))
        .arg("--wit")
        .arg(source.wit);
    // Its asynchronous engine needs a later component model than the contract.
    make.args(["--world", source.world, "--sync", "--js"]);
    make.arg(source.folder.join(source.program).with_extension("mjs"));
    command::run(make.arg("--output").arg(component))
}
