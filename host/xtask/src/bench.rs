//! `cargo xtask bench`: builds for release and runs the benchmark program.
//!
//! Owns the builds, and that the book names the pages of a report. What is measured, against
//! what, and how the pages are drawn, is in tests/bench.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use lexopt::Arg;

use crate::command::{self, say};
use crate::components;
use crate::corpus;
use crate::languages;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

/// The figure that needs Korean texts.
const KOREAN: &str = "search_korean";

/// The figures that need a command without clusters.
const CLUSTER_OFF: &str = "cluster_off_latency cluster_off_throughput cluster_off_http cluster_off_start";

/// The pages of a report, as part of the book.
const PAGES: &str = "docs/src/benchmarks";

/// What names the pages of the book.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// The chapter above those pages, and their lines below it.
const CHAPTER: &str = "- [Benchmarks](benchmarks.md)\n";
const NAMED: [&str; 2] = ["  - [Figures of a run](benchmarks/figures.md)", "  - [Plots of a run](benchmarks/plots.md)"];

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
  --json               Print one JSON object of all ratios as the last line of standard output
  --only KEY           Measure only the keys that contain KEY, for example engine_overhead or stdio
  --quick              A hundredth of the work, each once: shows that it runs, not how fast
  --report [DIR]       Write two pages, of all figures and of plots (SVG), into DIR [default: docs/src/benchmarks,
                       where the book's summary then names them]
  --peer NAME=COMMAND  Measure this server, too, as peer_NAME: it speaks MCP over standard input and output and has
                       a tool that echoes a text. Several may be given; Wassette is measured where it is on PATH
  -h, --help           This text

The first run compiles wasmtime for release and takes several minutes. Leave the
machine alone meanwhile: compare ratios, not absolute figures of two runs.
";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut passed: Vec<OsString> = Vec::new();
    let mut only: Option<OsString> = None;
    let mut report: Option<Option<PathBuf>> = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("json") => passed.push("--json".into()),
            Arg::Long("quick") => passed.push("--quick".into()),
            Arg::Long("only") => only = Some(arguments.value()?),
            Arg::Long("report") => report = Some(folder(&mut arguments)?),
            Arg::Long("peer") => passed.extend(["--peer".into(), arguments.value()?]),
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    components::build(&workspace, true, Choice::from_environment()?)?;
    let is_wanted = |keys: &str| only.as_deref().is_none_or(|only| keys.contains(&*only.to_string_lossy()));
    // Before the command as it comes, which then stands where it is looked for.
    let without_cluster = is_wanted(CLUSTER_OFF).then(|| build_without_cluster(&workspace)).transpose()?;
    say("Building for release (several minutes on a fresh clone)");
    let mut build = command::cargo(&workspace.root);
    command::run(build.args(["build", "--release", "--package", "wharf-cli", "--package", "wharf-bench"]))?;

    let mut bench = Command::new(workspace.binary("release", "wharf-bench"));
    bench.arg("--wharf").arg(workspace.binary("release", "wharf"));
    bench.arg("--echo-component").arg(workspace.components().join("guest-echo.wasm"));
    // Fetched only where it is measured.
    if is_wanted(KOREAN) {
        bench.arg("--korean-corpus").arg(corpus::korean(&workspace)?);
    }
    if is_wanted("guest_javascript guest_python") {
        bench.args(languages::build(&workspace)?);
    }
    if let Some(program) = without_cluster {
        bench.arg("--without-cluster").arg(program);
    }
    if let Some(only) = only {
        bench.arg("--only").arg(only);
    }
    if let Some(folder) = &report {
        bench.arg("--report").arg(folder.as_deref().unwrap_or(Path::new(PAGES)));
    }
    command::run(bench.args(passed).current_dir(&workspace.root))?;
    match report {
        // The pages are those of the book.
        Some(None) => name_pages(&workspace.root.join(SUMMARY)),
        _ => Ok(()),
    }
}

/// Builds the command without clusters; where it is.
fn build_without_cluster(workspace: &Workspace) -> Result<PathBuf> {
    say("Building the command without clusters for release, to measure what they cost one host (several minutes)");
    let mut build = command::cargo(&workspace.root);
    command::run(build.args(["build", "--release", "--package", "wharf-cli", "--no-default-features"]))?;
    let built = workspace.binary("release", "wharf");
    let kept = workspace.binary("release", "wharf-without-cluster");
    fs::copy(&built, &kept).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(kept)
}

/// The folder that may follow `--report`.
fn folder(arguments: &mut lexopt::Parser) -> Result<Option<PathBuf>> {
    let attached = arguments.optional_value();
    let follows = |word: &std::ffi::OsStr| !word.to_string_lossy().starts_with('-');
    let folder = match attached {
        Some(folder) => Some(folder),
        None => arguments.try_raw_args().and_then(|mut words| words.next_if(follows)),
    };
    // The benchmark runs in another folder than this command.
    Ok(folder.map(std::path::absolute).transpose()?)
}

/// Has the summary of the book name the pages, once.
fn name_pages(summary: &Path) -> Result<()> {
    let text = fs::read_to_string(summary).with_context(|| format!("cannot read {}", summary.display()))?;
    let named = with_pages(&text);
    if named != text {
        fs::write(summary, named).with_context(|| format!("cannot write {}", summary.display()))?;
    }
    Ok(())
}

/// The summary with a line for each page below the chapter on benchmarks.
fn with_pages(summary: &str) -> String {
    let missing = NAMED.iter().filter(|line| !summary.lines().any(|named| named == **line));
    let missing: String = missing.map(|line| format!("{line}\n")).collect();
    summary.replacen(CHAPTER, &format!("{CHAPTER}{missing}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_the_book_is_named_once_below_its_chapter() {
        let summary = "- [Systems](operating/systems.md)\n- [Benchmarks](benchmarks.md)\n\n# Developing\n";
        let named = with_pages(summary);
        let expected = "- [Systems](operating/systems.md)\n- [Benchmarks](benchmarks.md)\n  - [Figures of a run](benchmarks/figures.md)\n  \
                        - [Plots of a run](benchmarks/plots.md)\n\n# Developing\n";
        assert_eq!(named, expected);
        assert_eq!(with_pages(&named), named);
        let folder = |words: &[&str]| {
            let mut arguments = lexopt::Parser::from_args(words);
            assert_eq!(arguments.next().expect("an option"), Some(Arg::Long("report")));
            let folder = folder(&mut arguments).expect("a folder");
            folder.map(|folder| folder.file_name().expect("a name").to_string_lossy().into_owned())
        };
        assert_eq!(folder(&["--report"]), None);
        assert_eq!(folder(&["--report", "--quick"]), None);
        assert_eq!(folder(&["--report", "here"]).as_deref(), Some("here"));
        assert_eq!(folder(&["--report=there", "--quick"]).as_deref(), Some("there"));
    }
}
