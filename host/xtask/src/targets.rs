//! `cargo xtask check-targets`: the host's code for other systems, as far as its compiler.
//!
//! Owns which systems, and how what is written in C compiles for them. Nothing is linked and
//! nothing runs: what only this shows is that the code is whole there.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::python;
use crate::workspace::Workspace;

const HELP: &str = "\
Type-checks the `wharf` command and all its crates for other systems, with the C code of
its dependencies compiled by zig (a package of Python). For Linux on AArch64 these are
the crates that name the processor; the rest is as on any Linux. Nothing is linked and
nothing runs. A target that rustup cannot add is named and left out.

Usage: cargo xtask check-targets [OPTIONS]

Options:
  --target TRIPLE   Check this one (repeat it for several); all by default:
                      aarch64-unknown-linux-gnu, aarch64-apple-darwin, x86_64-pc-windows-gnu
  --workspace       Check plugins, the SDK and xtask, too; for Linux also the tests and
                    benchmarks that drive programs and terminals of Linux
  --all             Fail where a target cannot be had, too
  -h, --help        This text

The first run compiles what is in C and checks wasmtime: some minutes for each target.
";

const TARGETS: [&str; 3] = [LINUX, "aarch64-apple-darwin", "x86_64-pc-windows-gnu"];
const LINUX: &str = "aarch64-unknown-linux-gnu";

/// What is checked by default, and with `--workspace`.
const COMMAND: &[&str] = &["--package", "wharf-cli"];
const WORKSPACE: &[&str] = &["--workspace"];
/// What is checked for Linux by default: what the tests run there on another processor is the
/// same, but for crates that name it. All of the command on this processor is checked for macOS.
const NAMES_PROCESSOR: &[&str] = &["--package", "wharf-spawn", "--package", "wharf-terminal"];

/// What drives the host by signals, links and terminals of Linux, and runs nowhere else.
const LINUX_ALONE: [&str; 3] = ["wharf-tests", "wharf-bench", "wharf-terminal-bench"];

/// A machine that only reaches package mirrors may leave a download hanging.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut targets, mut all, mut scope) = (Vec::new(), false, COMMAND);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("target") => targets.push(arguments.value()?.string()?),
            Arg::Long("all") => all = true,
            Arg::Long("workspace") => scope = WORKSPACE,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if targets.is_empty() {
        targets = usual();
    }
    check(&Workspace::find()?, &targets, scope, all)
}

/// Checks what the command checks by default.
pub(crate) fn check_usual(workspace: &Workspace) -> Result<()> {
    check(workspace, &usual(), COMMAND, false)
}

fn usual() -> Vec<String> {
    TARGETS.map(str::to_owned).to_vec()
}

fn check(workspace: &Workspace, targets: &[String], scope: &[&str], all: bool) -> Result<()> {
    let mut rustup = RustupTargets { answers: true };
    let (there, absent): (Vec<_>, Vec<_>) = targets.iter().partition(|target| rustup.provides(target));
    for target in &absent {
        say(&format!("{target} was NOT checked: rustup cannot add its standard library here."));
    }
    if all && let Some(target) = absent.first() {
        bail!("`rustup target add {target}` did not succeed; try it by hand to see why");
    }
    if there.is_empty() {
        return Ok(());
    }
    let requirements = workspace.root.join("tests").join("targets").join("requirements.txt");
    let python = python::interpreter(workspace, "zig", &requirements)?;
    let tools = python.parent().context("the interpreter is in a folder")?.to_path_buf();
    let mut broken = Vec::new();
    for target in there {
        say(&format!("Checking for {target}"));
        let checked = command::run(&mut zigbuild(workspace, &tools, target, scope)?);
        if checked.is_err() {
            broken.push(target.as_str());
        }
    }
    if !broken.is_empty() {
        bail!("the code does not compile for {}", broken.join(", "));
    }
    Ok(())
}

fn zigbuild(workspace: &Workspace, tools: &Path, target: &str, scope: &[&str]) -> Result<Command> {
    // Apart from the workspace's own builds, which would wait for it.
    let folder = workspace.target().join("other-systems");
    let path = command::search_path(tools, None)?;
    let packages = if scope == COMMAND && target == LINUX { NAMES_PROCESSOR } else { scope };
    let mut check = Command::new(tools.join("cargo-zigbuild"));
    check.current_dir(&workspace.root).args(["check", "--quiet", "--locked", "--target", target]).args(packages);
    if scope == WORKSPACE && !target.contains("linux") {
        check.args(LINUX_ALONE.iter().flat_map(|package| ["--exclude", package]));
    }
    check.env("PATH", path).env("CARGO_TARGET_DIR", folder).env("CARGO_INCREMENTAL", "0");
    // Nothing of it runs, and zig makes an error of `__DATE__`, which mimalloc prints on Windows.
    let flags = format!("CFLAGS_{}", target.replace('-', "_"));
    check.env(flags, "-O0 -Wno-error=date-time");
    Ok(check)
}

/// Targets as rustup has or adds them.
struct RustupTargets {
    /// A server that left one download hanging is asked for no other.
    answers: bool,
}

impl RustupTargets {
    fn provides(&mut self, target: &str) -> bool {
        if has_library(target) {
            return true;
        }
        if !self.answers {
            return false;
        }
        say(&format!("Adding {target} with rustup (seconds, where it can be downloaded)."));
        let (mut rustup, began) = (Command::new("rustup"), Instant::now());
        let added = command::succeeds_within(rustup.args(["target", "add", target]), RUSTUP_LIMIT);
        self.answers = began.elapsed() < RUSTUP_LIMIT;
        added && has_library(target)
    }
}

fn has_library(target: &str) -> bool {
    let folder = command::capture(command::rustc().args(["--print", "target-libdir", "--target", target]));
    folder.is_ok_and(|folder| fs::read_dir(folder.trim()).is_ok_and(|mut entries| entries.next().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a source below this folder has the word.
    fn names(folder: &Path, word: &str) -> bool {
        fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
            let path = entry.path();
            let is_source = || path.extension().is_some_and(|extension| extension == "rs");
            names(&path, word) || (is_source() && fs::read_to_string(&path).is_ok_and(|text| text.contains(word)))
        })
    }

    #[test]
    fn each_crate_that_names_the_processor_is_checked_for_another_one() {
        let host = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder").to_path_buf();
        let crates = fs::read_dir(&host).expect("crates").flatten().map(|entry| entry.path());
        let naming = crates.filter(|folder| !folder.ends_with("xtask") && names(&folder.join("src"), "target_arch"));
        let mut naming: Vec<_> =
            naming.map(|folder| format!("wharf-{}", folder.file_name().expect("a name").to_string_lossy())).collect();
        naming.sort();
        let checked: Vec<_> = NAMES_PROCESSOR.iter().copied().filter(|word| *word != "--package").collect();
        assert_eq!(naming, checked, "add it to NAMES_PROCESSOR");
    }
}
