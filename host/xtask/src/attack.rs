//! `cargo xtask attack`: every hostile case of the book against a binary that is named, with a report.
//!
//! Owns which cases there are, as the chapter about attacks lists them, and the verdict. What a case does is in
//! the tests.

mod cases;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{collections::BTreeSet, fs};

use anyhow::{Context as _, Result, bail, ensure};
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::components;
use crate::packages;
use crate::toolchain::{self, Choice};
use crate::workspace::Workspace;
use cases::{AttackOutcome, outcomes};

const HELP: &str = "\
Attacks a binary of Wharf by every hostile case of the book's chapter *Attacks and their
tests*: plugins, programs, terminals, pages, clients, registries, readers of the disk.
Each case starts that binary, as an operator would, and looks whether the wall holds.

Usage: cargo xtask attack [OPTIONS]

Options:
  --wharf PATH    The binary, such as /usr/bin/wharf of a package (default: what this
                  tree builds)
  --address-sanitizer
                  The binary is built of this tree with AddressSanitizer (minutes), which ends it
                  where it touches memory that is not allocated
  --only WORD     Only cases whose test has this in its name; may be repeated
  --report FILE   Where the report goes, as Markdown (default target/attack/report.md)
  --threads N     How many cases run at once (default: two for each processor)
  -h, --help      This text

A case that looks into the library, or moves the clock of its own process, shows nothing
of a binary: the report lists it as such. It exits with 1 where a case did not hold.
Minutes; the tests of this tree are built first. The kernel, the browser and the
database of this machine are part of what is attacked.
";

/// The chapter that lists the attacks.
const CHAPTER: &str = "docs/src/security/attacks.md";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut wharf, mut report, mut only, mut sanitized) = (None::<PathBuf>, None::<PathBuf>, Vec::new(), false);
    let mut threads = 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("wharf") => wharf = Some(arguments.value()?.into()),
            Arg::Long("address-sanitizer") => sanitized = true,
            Arg::Long("only") => only.push(arguments.value()?.string()?),
            Arg::Long("report") => report = Some(arguments.value()?.into()),
            Arg::Long("threads") => threads = arguments.value()?.parse()?,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(
        !sanitized || wharf.is_none(),
        "--address-sanitizer builds the binary, and --wharf names one: give one of both"
    );
    let workspace = Workspace::find()?;
    packages::ensure_for_tests(&workspace)?;
    components::build(&workspace, true, Choice::from_environment()?)?;
    say("Building the tests (minutes on a fresh clone: wasmtime is large)");
    // All members together, as the tests have them: see `test`.
    let programs: &[&str] = if wharf.is_some() || sanitized { &["--tests"] } else { &["--bins", "--tests"] };
    command::run(&mut command::building_programs(&workspace.root, programs)?)?;
    let wharf = match wharf {
        Some(named) => fs::canonicalize(&named).with_context(|| format!("there is no {}", named.display()))?,
        None if sanitized => with_address_sanitizer(&workspace)?,
        None => workspace.binary("debug", "wharf"),
    };
    let report = report.unwrap_or_else(|| workspace.target().join("attack/report.md"));
    attack(&workspace, (&wharf, sanitized), &only, threads, &report)
}

/// Builds the command with AddressSanitizer, which the ordinary compiler has behind a flag that is not stable. Code of C
/// is compiled as always: the allocator watches what it frees, and not each of its accesses.
fn with_address_sanitizer(workspace: &Workspace) -> Result<PathBuf> {
    say("Building the binary with AddressSanitizer (minutes: all that it is made of)");
    let target = toolchain::host_triple()?;
    let folder = workspace.target().join("address-sanitizer");
    let mut cargo = command::cargo(&workspace.root);
    cargo.args(["build", "--locked", "--package", "wharf-cli", "--bin", "wharf", "--target", &target]);
    cargo.arg("--target-dir").arg(&folder);
    // The runtime has to know, since it moves between stacks.
    cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address --cfg asan");
    command::run(&mut cargo)?;
    Ok(folder.join(target).join("debug/wharf"))
}

/// What the sanitizer said, in whatever test.
fn sanitizer_reports(noted: &Path) -> Result<Vec<String>> {
    let mut reports = Vec::new();
    for entry in fs::read_dir(noted)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("sanitizer-") {
            reports.push(fs::read_to_string(entry.path())?);
        }
    }
    Ok(reports)
}

fn attack(
    workspace: &Workspace,
    (wharf, sanitized): (&Path, bool),
    only: &[String],
    threads: usize,
    report: &Path,
) -> Result<()> {
    let version = command::capture(Command::new(wharf).arg("--version")).context("it says no version")?;
    let version = version.trim();
    let chapter = fs::read_to_string(workspace.root.join(CHAPTER)).with_context(|| format!("cannot read {CHAPTER}"))?;
    let cases = cases::listed(&chapter);
    let mut tests: BTreeSet<&str> = cases.iter().flat_map(|case| case.tests.iter().map(String::as_str)).collect();
    tests.retain(|test| only.is_empty() || only.iter().any(|word| test.contains(word.as_str())));
    ensure!(!tests.is_empty(), "no test has such a name");
    say(&format!("Attacking {} ({version}) by {} tests", wharf.display(), tests.len()));
    say("A test that fails since it looks into the library counts as not made; the last lines say what held");
    let noted = workspace.target().join("attack/noted");
    if noted.exists() {
        fs::remove_dir_all(&noted)?;
    }
    fs::create_dir_all(&noted)?;
    let mut run = command::cargo(&workspace.root);
    run.args(["test", "--quiet", "--workspace", "--test", "end_to_end", "--", "--exact", "--format=pretty"]);
    run.arg(format!("--test-threads={threads}")).args(&tests);
    run.env("WHARF", wharf).env("WHARF_ATTACKED", &noted);
    if sanitized {
        run.env("WHARF_ATTACKED_SANITIZED", "1");
    }
    // Which of them failed is in what they say.
    let (_, said) = command::run_and_keep(&mut run, |_| true)?;
    let started = fs::read_to_string(noted.join("started")).unwrap_or_default();
    let outcomes = outcomes(&said, &started);
    let written = report::written(&cases, &outcomes, &format!("{} ({version})", wharf.display()));
    if let Some(folder) = report.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(report, &written.text).with_context(|| format!("cannot write {}", report.display()))?;
    println!("{}\nattack: {} has each case", written.summary, report.display());
    let reports = sanitizer_reports(&noted)?;
    for said in &reports {
        println!("{said}\n");
    }
    ensure!(reports.is_empty(), "AddressSanitizer reported {} times; what it said stands above", reports.len());
    let lost: Vec<_> = tests.iter().filter(|test| !outcomes.contains_key(**test)).collect();
    ensure!(lost.is_empty(), "{} tests did not end: {lost:?}", lost.len());
    let broken = outcomes.values().filter(|outcome| matches!(outcome, AttackOutcome::Broken(_))).count();
    if broken > 0 {
        bail!("{broken} tests did not hold");
    }
    Ok(())
}
