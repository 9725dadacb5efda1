//! `cargo xtask bench`: builds for release and runs the benchmark program.
//!
//! Owns the builds only. What is measured, and against what, is in tests/bench.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;
use lexopt::Arg;

use crate::command::{self, say};
use crate::components;
use crate::corpus;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

/// The figure that needs Korean texts.
const KOREAN: &str = "search_korean";

/// All figures once, of the build for development that is there: whether the benchmark
/// runs, which no figure of it says.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut bench = Command::new(workspace.binary("debug", "wharf-bench"));
    bench.arg("--quick").arg("--wharf").arg(workspace.binary("debug", "wharf"));
    bench.arg("--echo-component").arg(workspace.components().join("guest-echo.wasm"));
    command::run(bench.current_dir(&workspace.root))
}

const HELP: &str = "\
Builds Wharf for release and measures it, each side of each ratio in the same run:
against bare wasmtime, against an MCP server without Wasm (over stdio and HTTP), and searches against tantivy.

Usage: cargo xtask bench [OPTIONS]

Options:
  --json        Print one JSON object of all ratios as the last line of standard output
  --only KEY    Measure only the keys that contain KEY, for example engine_overhead or stdio
  --quick       A hundredth of the work, each once: shows that it runs, not how fast
  -h, --help    This text

The first run compiles wasmtime for release and takes several minutes. Leave the
machine alone meanwhile: compare ratios, not absolute figures of two runs.
";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut passed: Vec<OsString> = Vec::new();
    let mut only: Option<OsString> = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("json") => passed.push("--json".into()),
            Arg::Long("quick") => passed.push("--quick".into()),
            Arg::Long("only") => only = Some(arguments.value()?),
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    components::build(&workspace, true, Choice::from_environment()?)?;
    say("Building for release (several minutes on a fresh clone)");
    let mut build = command::cargo(&workspace.root);
    command::run(build.args(["build", "--release", "--package", "wharf-cli", "--package", "wharf-bench"]))?;

    let mut bench = Command::new(workspace.binary("release", "wharf-bench"));
    bench.arg("--wharf").arg(workspace.binary("release", "wharf"));
    bench.arg("--echo-component").arg(workspace.components().join("guest-echo.wasm"));
    // Fetched only where it is measured.
    if only.as_deref().is_none_or(|only| KOREAN.contains(&*only.to_string_lossy())) {
        bench.arg("--korean-corpus").arg(corpus::korean(&workspace)?);
    }
    if let Some(only) = only {
        bench.arg("--only").arg(only);
    }
    command::run(bench.args(passed).current_dir(&workspace.root))
}
