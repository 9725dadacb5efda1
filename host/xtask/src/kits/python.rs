//! The kit for Python: tests on CPython, mypy, ruff, and plugins in a real host.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::{KitOutcome, not_tested};
use crate::command::{self, say};
use crate::python;
use crate::workspace::Workspace;

/// What mypy reads. `pyproject.toml` has its settings.
const TYPED: [&str; 3] = ["src", "examples", "tests"];

/// What the kit and a component's build need.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 11))";

/// The programs that the tests of the kit need.
struct PythonTools {
    /// The interpreter beside `componentize-py`.
    builder: PathBuf,
    /// The interpreter beside mypy and ruff.
    linter: PathBuf,
}

impl PythonTools {
    fn prepare(workspace: &Workspace) -> Result<Self> {
        let builder = workspace.root.join("tests/guests/languages/python/requirements.txt");
        let builder = python::interpreter(workspace, "componentize-py", &builder)?;
        if command::capture(Command::new(&builder).args(["-c", OLDEST])).is_err() {
            bail!("the kit needs Python 3.11 or newer");
        }
        let linter = workspace.root.join("sdk/python/tests/requirements.txt");
        Ok(Self { builder, linter: python::interpreter(workspace, "python-kit", &linter)? })
    }
}

pub(super) fn check(workspace: &Workspace, guests: &Path) -> Result<KitOutcome> {
    let tools = match PythonTools::prepare(workspace) {
        Ok(tools) => tools,
        Err(error) => return Ok(not_tested("Python", &error)),
    };
    say("Testing the kit of Python");
    let kit = workspace.root.join("sdk/python");
    let native = native(&tools, &kit);
    let mut trial = Command::new(&tools.builder);
    unwritten(&mut trial).arg("tests/in_host.py").arg(workspace.binary("debug", "wharf"));
    trial.arg(tools.builder.with_file_name(format!("componentize-py{}", std::env::consts::EXE_SUFFIX))).arg(guests);
    let closes = |line: &str| line.starts_with("FAILED ") || line.contains(" checks passed, ");
    let (tried, said) = command::run_and_keep(trial.current_dir(&kit), closes)?;
    Ok((native.and(tried), said.into_iter().map(|line| format!("kits: Python: {line}")).collect()))
}

/// What needs no Wasm.
fn native(tools: &PythonTools, kit: &Path) -> Result<()> {
    let mut tests = Command::new(&tools.builder);
    let tests = command::run(unwritten(&mut tests).args(["-m", "unittest"]).current_dir(kit));
    let module = |name: &str| {
        let mut module = Command::new(&tools.linter);
        unwritten(&mut module).args(["-m", name]).current_dir(kit);
        module
    };
    let types = command::run(module("mypy").args(["--no-error-summary", "--cache-dir=/dev/null"]).args(TYPED));
    let style = command::run(module("ruff").args(["check", "--quiet", "--no-cache", "."]));
    tests.and(types).and(style)
}

/// Leaves no compiled modules beside the sources, which would make cargo build the program that
/// carries the kit again.
fn unwritten(python: &mut Command) -> &mut Command {
    python.env("PYTHONDONTWRITEBYTECODE", "1")
}
