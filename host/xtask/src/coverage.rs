//! `cargo xtask coverage`: which lines of the host and the plugins the tests
//! reach.
//!
//! Owns how instrumented binaries are made, run and counted. Only members of
//! the workspace are instrumented: a copy of this very binary stands between
//! cargo and rustc and adds the flag, so that wasmtime is neither compiled
//! again nor slowed down. Spawned `wharf` processes count too: where to write is
//! in the environment, which they inherit.

mod llvm;
mod report;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use lexopt::Arg;
use lexopt::ValueExt as _;
use serde_json::Value;

use crate::command::{self, say};
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

/// Says to a copy of this binary that it was called in the place of rustc.
const COMPILER: &str = "WHARF_COVERAGE_COMPILER";

/// What the command line asks for.
struct Options {
    minimum: f64,
    llvm: llvm::Choice,
    html: bool,
}

/// Whether cargo called this process to compile something.
pub(crate) fn called_as_compiler() -> bool {
    env::var_os(COMPILER).is_some()
}

/// Calls rustc with the arguments of this process, and with counters where it
/// compiles something that is part of the product.
pub(crate) fn compile() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let Some((rustc, rest)) = arguments.split_first() else {
        return ExitCode::FAILURE;
    };
    let mut compiler = Command::new(rustc);
    compiler.args(rest);
    if wants_counters(rest) {
        compiler.args(["-C", "instrument-coverage"]);
    }
    match compiler.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Build scripts and macros run while something is compiled, not while it is
/// tested; and cargo also asks rustc questions without compiling.
fn wants_counters(arguments: &[OsString]) -> bool {
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).and_then(|value| value.to_str())
    };
    match after("--crate-name") {
        None | Some("___") => false,
        Some(name) => !name.starts_with("build_script_") && after("--crate-type") != Some("proc-macro"),
    }
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut options = Options { minimum: 80.0, llvm: llvm::Choice::Auto, html: false };
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
    let tools = llvm::Tools::find(&workspace, options.llvm)?;
    components::build(&workspace, true, Choice::from_environment()?)?;

    let folder = workspace.target().join("coverage");
    let profiles = folder.join("profiles");
    if profiles.exists() {
        fs::remove_dir_all(&profiles)?;
    }
    fs::create_dir_all(&profiles)?;
    let compiler = install_compiler(&folder)?;
    let counted = Counted { workspace: &workspace, compiler, profiles };

    let outcome = measure(&counted, &tools, &folder, &options);
    // Builds share one folder with ordinary ones: put the binaries without
    // counters back into their places, whatever happened.
    command::run(command::cargo(&workspace.root).args(["build", "--quiet", "--workspace", "--bins"]))?;
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

fn measure(counted: &Counted<'_>, tools: &llvm::Tools, folder: &Path, options: &Options) -> Result<()> {
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
        cargo.env("RUSTC_WORKSPACE_WRAPPER", &self.compiler).env(COMPILER, "1").envs(self.environment());
        cargo.env("WHARF", self.workspace.binary("debug", "wharf"));
        cargo
    }
}

/// A copy, since cargo replaces the original with one that counts itself.
fn install_compiler(folder: &Path) -> Result<PathBuf> {
    let compiler = folder.join(format!("rustc-with-counters{}", env::consts::EXE_SUFFIX));
    let unfinished = folder.join(format!("rustc-with-counters.{}", std::process::id()));
    fs::copy(env::current_exe()?, &unfinished).context("cannot copy xtask")?;
    fs::rename(&unfinished, &compiler)?;
    Ok(compiler)
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

    fn counts(arguments: &[&str]) -> bool {
        wants_counters(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_is_tested_gets_counters() {
        assert!(counts(&["--crate-name", "wharf_core", "--edition=2024", "--crate-type", "lib"]));
        assert!(counts(&["--crate-name", "wharf_core", "--test"]));
        assert!(!counts(&["--crate-name", "build_script_build", "--crate-type", "bin"]));
        assert!(!counts(&["--crate-name", "wharf_sdk_macros", "--crate-type", "proc-macro"]));
        assert!(!counts(&["-", "--crate-name", "___", "--print=file-names"]));
        assert!(!counts(&["-vV"]));
    }

    #[test]
    fn binaries_are_read_from_cargos_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":\"a/wharf\"}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":null}\nnot json\n";
        assert_eq!(executables(messages), [PathBuf::from("a/wharf")]);
    }
}
