//! `cargo xtask coverage`: which lines of the host and the plugins the tests
//! reach.
//!
//! Owns how instrumented binaries are made, run and counted. Only members of
//! the workspace are instrumented (`compiler`), so that wasmtime is neither
//! compiled again nor slowed down. Spawned `wharf` processes count too: where to write is
//! in the environment, which they inherit.

mod llvm;
mod report;

pub(crate) use llvm::LlvmTools;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use lexopt::Arg;
use lexopt::ValueExt as _;
use serde_json::Value;

use crate::command::{self, say};
use crate::compiler;
use crate::components;
use crate::test;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

const HELP: &str = "\
Runs all tests, the Python client's too, with counters in the host and the plugins,
and prints the share of lines that ran, by crate and by file. xtask itself and the
tests are not counted. Fails where less than the minimum is reached.

Usage: cargo xtask coverage [OPTIONS]

Options:
  --minimum PERCENT   What must be reached (default 80)
  --llvm WHICH        auto (default): the toolchain's llvm-tools, added by rustup where missing,
                      else LLVM of the same version on this machine, else Debian's package,
                      unpacked under target/; rustup or debian: that one or nothing
  --html              Also write target/coverage/html/index.html, line by line
  -h, --help          This text
";

/// What counts.
const FLAGS: &str = "-C instrument-coverage";

/// What the command line asks for.
struct Options {
    minimum: f64,
    llvm: Choice,
    html: bool,
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut options = Options { minimum: 80.0, llvm: Choice::Auto, html: false };
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("minimum") => options.minimum = arguments.value()?.parse()?,
            Arg::Long("llvm") => options.llvm = arguments.value()?.string()?.parse()?,
            Arg::Long("html") => options.html = true,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    let tools = LlvmTools::find(&workspace, options.llvm)?;
    components::build(&workspace, true, Choice::from_environment()?)?;

    let folder = workspace.target().join("coverage");
    let profiles = folder.join("profiles");
    if profiles.exists() {
        fs::remove_dir_all(&profiles)?;
    }
    fs::create_dir_all(&profiles)?;
    let compiler = compiler::install(&folder)?;
    let counted = Counted { workspace: &workspace, compiler, profiles };

    let outcome = measure(&counted, &tools, &folder, &options);
    // Builds share one folder with ordinary ones: put the binaries without
    // counters back into their places, whatever happened.
    command::run(command::building_programs(&workspace.root, &["--bins"])?.arg("--quiet"))?;
    remove_strays(&workspace.root)?;
    outcome
}

/// A process that was given no environment writes its counts where it stands.
fn remove_strays(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "profraw") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn measure(counted: &Counted<'_>, tools: &LlvmTools, folder: &Path, options: &Options) -> Result<()> {
    say("Building with counters");
    let mut build = counted.cargo();
    build.args(["build", "--workspace", "--bins", "--tests", "--message-format", "json-render-diagnostics"]);
    let binaries = executables(&command::run_and_capture(&mut build)?);
    if binaries.is_empty() {
        bail!("cargo built no binaries");
    }
    say("Running the tests with counters");
    let mut tests = counted.cargo();
    tests.args(["test", "--workspace", "--bins", "--lib", "--tests", "--quiet", "--no-fail-fast"]);
    let tested = command::run(&mut tests);
    let served = test::client(counted.workspace, &counted.environment());

    let profile = tools.merge(&counted.profiles, &folder.join("merged.profdata"))?;
    let summary = tools.export(&profile, &binaries)?;
    if options.html {
        let page = tools.html(&profile, &binaries, &folder.join("html"))?;
        say(&format!("Line by line: {}", counted.workspace.shown(&page)));
    }
    let reported = report::print(&counted.workspace.root, &summary, options.minimum);
    // The shares are worth a look even where a test fails; that is a failure all the same.
    tested.and(served).and(reported)
}

/// How to build and run with counters.
struct Counted<'w> {
    workspace: &'w Workspace,
    compiler: PathBuf,
    profiles: PathBuf,
}

impl Counted<'_> {
    fn environment(&self) -> [(&'static str, OsString); 1] {
        // A file for each process: one that is killed spoils no other's.
        [("LLVM_PROFILE_FILE", self.profiles.join("%p-%m.profraw").into_os_string())]
    }

    fn cargo(&self) -> Command {
        let mut cargo = command::cargo(&self.workspace.root);
        cargo.envs(compiler::environment(&self.compiler, FLAGS)).envs(self.environment());
        cargo.env("WHARF", self.workspace.binary("debug", "wharf"));
        cargo
    }
}

/// The binaries that cargo says it built.
fn executables(messages: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_read_from_cargos_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":\"a/wharf\"}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":null}\nnot json\n";
        assert_eq!(executables(messages), [PathBuf::from("a/wharf")]);
    }
}
