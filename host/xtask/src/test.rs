//! `cargo xtask test`: everything there is to run, in one order, with one
//! verdict.
//!
//! Owns the order and the report. Knows no test: the runners find them.

mod closing;
mod lints;
mod outcome;
mod rows;

use std::ffi::OsString;
use std::num::NonZero;
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result};
use lexopt::Arg;
use lexopt::ValueExt as _;

use crate::author;
use crate::bench;
use crate::book;
use crate::command::{self, say};
use crate::components;
use crate::console;
use crate::demo;
use crate::disk;
use crate::distribution;
use crate::kits;
use crate::node;
use crate::outside;
use crate::packages;
use crate::previous::{self, PreviousVersion};
use crate::publication::{self, PackageCheck};
use crate::python;
use crate::routes;
use crate::targets;
use crate::tidy;
use crate::toolchain::Choice;
use crate::workspace::Workspace;
pub(crate) use closing::closes_a_run;
use closing::{LastWords, with_failures};
use outcome::{PartOutcome, report, timed};

const HELP: &str = "\
Builds everything and runs every test. Nothing has to be set up first: the Wasm
target, the plugins and a Python environment are prepared where they are missing.
A part that fails does not stop the others; the exit code says whether all passed.

Usage: cargo xtask test [OPTIONS]

Options:
  --only PART   Run one part (repeat it for several):
                  rust     all Rust tests but the doctests, by cargo-nextest where it is installed
                  doctests the examples in the documentation of Rust items
                  client   a real MCP client in Python against the built binary
                  conformance
                           the official conformance suite, Inspector and TypeScript client, in a Node.js
                           that is installed below target/node; and the package for front ends (sdk/front-end),
                           whose example runs in a real browser
                  routes   every route over HTTP, fed by schemathesis with what its description allows and
                           what it does not; a minute, the same each time (cargo xtask fuzz http)
                  book     the plugin of the first page: built, granted and called as README.md says; and the
                           chapters for authors in each language, block by block
                  author   a new plugin by `wharf new`: its tests, `wharf build`, calls, and an edit under `wharf dev`
                  kits     the kits for Python and JavaScript: their tests, types and style, and their plugins in a host
                  package  the packages of library, contract and SDK: that cargo makes them, that they carry
                           WIT and the bundled plugins, and that those of plugin authors build from that
                  install  what people install (cargo xtask package), made of the built program and installed
                  demo     the demo, which checks each of its claims (cargo xtask demo)
                  bench    the benchmark, a hundredth of it and each figure once: that it runs, not how fast
                  tidy     the rules of the project (cargo xtask tidy)
                  lint     formatting and clippy, warnings being errors. With the variable
                           WHARF_BUILD_LINTS, as in .ci/run, each build lints and nothing is compiled
                           twice for it; what a shell has compiled without is not used then
                  targets  the code for other systems, as far as its compiler (cargo xtask check-targets);
                           minutes; only with --only
                  outside  an app outside this repository, with the library by git (tests/outside): what is
                           committed is fetched, built without sharing anything, and called. It takes
                           many minutes and is no part of the run without --only
                  release  what else is made for others: every package, built from what it carries, and the
                           manual as a site (cargo xtask book). Minutes; only with --only
  --wry         Run the example of an app that lends its own WebViews to the host
                (tests/wry), and nothing else: needs WebKit, which is installed where
                it is missing. A part that no other run has
  -h, --help    This text

The first run compiles wasmtime and takes minutes; later ones take what the tests take.
Part rust builds the previous version once, which hosts of today's have to serve with: the
commit in tests/previous-version, below target/previous.

Example: only the Rust tests of one crate, as usual
  cargo test -p wharf-state
";

/// What a whole run leaves under `target/`, in gigabytes.
const GIGABYTES: u64 = 24;

/// A part of the run, in the order of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestPart {
    Rust,
    Doctests,
    Client,
    Conformance,
    Routes,
    Book,
    Author,
    Kits,
    Package,
    Install,
    Demo,
    Bench,
    Tidy,
    Lint,
    Targets,
    Outside,
    Release,
}

impl TestPart {
    /// What runs where nothing else is asked for.
    const USUAL: [Self; 14] = [
        Self::Rust,
        Self::Client,
        Self::Conformance,
        Self::Routes,
        Self::Book,
        Self::Author,
        Self::Kits,
        Self::Package,
        Self::Install,
        Self::Demo,
        Self::Bench,
        Self::Tidy,
        Self::Doctests,
        Self::Lint,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Doctests => "doctests",
            Self::Client => "client",
            Self::Conformance => "conformance",
            Self::Routes => "routes",
            Self::Book => "book",
            Self::Author => "author",
            Self::Kits => "kits",
            Self::Package => "package",
            Self::Install => "install",
            Self::Demo => "demo",
            Self::Bench => "bench",
            Self::Tidy => "tidy",
            Self::Lint => "lint",
            Self::Targets => "targets",
            Self::Outside => "outside",
            Self::Release => "release",
        }
    }

    fn run(self, workspace: &Workspace) -> PartOutcome {
        say(&format!("Part {}", self.name()));
        let outcome = timed(self.name(), || match self {
            Self::Rust => rust(workspace),
            Self::Doctests => doctests(workspace),
            Self::Client => Ok((client(workspace, &[]), Vec::new())),
            Self::Conformance => conformance(workspace),
            Self::Routes => Ok((routes::check(workspace), Vec::new())),
            Self::Book => Ok((book::check(workspace), Vec::new())),
            Self::Author => Ok((author::check(workspace), Vec::new())),
            Self::Kits => kits::check(workspace),
            Self::Package => Ok((publication::check(workspace, PackageCheck::Usual), Vec::new())),
            Self::Install => Ok((distribution::check(workspace), Vec::new())),
            Self::Demo => Ok((demo::tell(workspace), Vec::new())),
            Self::Bench => Ok((bench::check(workspace), Vec::new())),
            Self::Tidy => Ok((tidy::check(workspace), Vec::new())),
            Self::Lint => Ok((lint(workspace), Vec::new())),
            Self::Targets => Ok((targets::check_usual(workspace), Vec::new())),
            Self::Outside => Ok((outside::check(workspace), Vec::new())),
            Self::Release => Ok((release(workspace), Vec::new())),
        });
        // A run that is ended from outside has no summary.
        say(&format!("Part {} ended after {:.0} s", self.name(), outcome.took.as_secs_f64()));
        outcome
    }

    fn needs_binary(self) -> bool {
        !self.only_computes() && !matches!(self, Self::Outside | Self::Release)
    }

    /// Whether it needs nothing but processors, and nothing in it has a deadline.
    fn only_computes(self) -> bool {
        matches!(self, Self::Doctests | Self::Package | Self::Tidy | Self::Lint | Self::Targets)
    }
}

impl std::str::FromStr for TestPart {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let others = [Self::Targets, Self::Outside, Self::Release];
        let part = Self::USUAL.into_iter().chain(others).find(|part| part.name() == name);
        part.ok_or_else(|| {
            anyhow::anyhow!(
                "there is no part `{name}`: choose rust, doctests, client, conformance, routes, book, author, kits, package, \
                 install, demo, bench, tidy, lint, targets, outside or release"
            )
        })
    }
}

/// What is made for others and takes longer than the usual run may.
fn release(workspace: &Workspace) -> Result<()> {
    publication::check(workspace, PackageCheck::BuildAll)?;
    book::build(workspace, false)
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut parts = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("only") => parts.push(arguments.value()?.string()?.parse()?),
            Arg::Long("wry") => return wry(&Workspace::find()?),
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let whole = parts.is_empty();
    if whole {
        parts = TestPart::USUAL.to_vec();
    }
    let workspace = Workspace::find()?;
    let names: Vec<_> = parts.iter().map(|part| part.name()).collect();
    say(&format!("Running: {}. Plugins and the host are built first where a part needs them.", names.join(", ")));

    if whole {
        disk::warn_where_scarce(&workspace, GIGABYTES)?;
    }

    let mut outcomes = Vec::new();
    if parts.iter().any(|part| part.needs_binary()) {
        let tests = parts.contains(&TestPart::Rust);
        outcomes.push(timed("build", || build(&workspace, tests)));
        say(&format!("The build ended after {:.0} s", outcomes[0].took.as_secs_f64()));
    }
    let built = outcomes.iter().all(|outcome| outcome.result.is_ok());
    parts.retain(|part| built || !part.needs_binary());
    outcomes.extend(rows::run(&workspace, parts));
    report(&outcomes)
}

/// First the plugins of the version that tests have serve beside this one: they are compiled to the same
/// files as today's, which would have to be compiled again. Then components: the binary carries those that
/// are there when it is built. All members together: a member built alone may get other features of the
/// shared dependencies, and those would then be compiled twice.
fn build(workspace: &Workspace, tests: bool) -> Result<(Result<()>, Vec<String>)> {
    let choice = Choice::from_environment()?;
    let previous = if tests { previous::find(workspace)? } else { PreviousVersion::Unwanted };
    components::build_after(workspace, true, choice, || {
        packages::ensure_for_tests(workspace)?;
        previous.build_plugins(workspace, choice)
    })?;
    previous.build_program(workspace)?;
    console::build(workspace)?;
    say("Building the host and what else is tested (minutes on a fresh clone: wasmtime is large)");
    let mut cargo = command::building_programs(&workspace.root, &["--bins"])?;
    if tests {
        cargo.arg("--tests");
    }
    Ok((command::run(&mut cargo), previous.untested()))
}

/// The example of an app: a workspace of its own, since nothing else needs WebKit.
fn wry(workspace: &Workspace) -> Result<()> {
    packages::ensure_webviews()?;
    let source = workspace.root.join("tests").join("wry");
    let folder = workspace.target().join("wry");
    say("Building the example of an app with WebViews (minutes on a fresh clone)");
    let mut build = command::cargo(&source);
    command::run(build.args(["test", "--locked", "--no-run", "--target-dir"]).arg(&folder))?;
    for what in [["test", "--tests"], ["run", "--example=app"]] {
        say(&format!("Running it without a screen: cargo {}", what.join(" ")));
        let mut run = Command::new("xvfb-run");
        run.current_dir(&source).args(["--auto-servernum", "cargo"]).args(what);
        command::run(run.args(["--locked", "--target-dir"]).arg(&folder))?;
    }
    Ok(())
}

fn rust(workspace: &Workspace) -> Result<(Result<()>, Vec<String>)> {
    let threads = test_threads().to_string();
    let with_nextest = ["nextest", "run", "--workspace", "--profile=whole", "--test-threads", &threads];
    let without = ["test", "--workspace", "--bins", "--lib", "--tests"];
    let mut runner = command::testing(&workspace.root, &with_nextest, &without)?;
    let binary = workspace.binary("debug", "wharf");
    let mut tests = LastWords::default();
    let (tested, said) = command::run_and_keep(runner.env("WHARF", &binary), |line| tests.keep(line))?;
    let tested = with_failures(tested, &said);
    let closing = said.iter().filter(|line| closes_a_run(line));
    Ok((tested, closing.map(|line| line.trim_start().to_owned()).collect()))
}

fn doctests(workspace: &Workspace) -> Result<(Result<()>, Vec<String>)> {
    let mut doctests = command::building(&workspace.root, &["test", "--doc", "--workspace"])?;
    command::run_and_keep(&mut doctests, closes_a_run)
}

/// Places for tests. Most tests wait for children, browsers and clocks, so a processor carries two
/// of them, or four of those that only wait; those that measure ask for all places
/// (`.config/nextest.toml`).
fn test_threads() -> usize {
    4 * thread::available_parallelism().map_or(1, NonZero::get)
}

/// The client is a Python script that any user of the official package could
/// have written. `environment` is added to its own.
pub(crate) fn client(workspace: &Workspace, environment: &[(&str, OsString)]) -> Result<()> {
    let clients = workspace.root.join("tests").join("clients");
    let python = python::interpreter(workspace, "python", &clients.join("requirements.txt"))?;
    let mut script = Command::new(python);
    script.arg(clients.join("end_to_end.py")).env("WHARF", workspace.binary("debug", "wharf"));
    script.envs(environment.iter().map(|(name, value)| (name, value)));
    command::run(script.current_dir(&workspace.root))
}

/// The tools are packages of npm, and run in a Node.js of their own.
fn conformance(workspace: &Workspace) -> Result<(Result<()>, Vec<String>)> {
    let node = node::prepare(workspace, &workspace.root.join("tests").join("conformance"))?;
    let mut script = Command::new(&node.program);
    script.arg(node.folder.join("run.mjs")).env("WHARF", workspace.binary("debug", "wharf"));
    script.env("WHARF_CONFORMANCE_PLUGIN", workspace.components().join("guest-conformance.wasm"));
    let (suite, mut closing) =
        command::run_and_keep(script.current_dir(&workspace.root), |line| line.starts_with("conformance "))?;
    let (front_end, checks) = front_end(workspace, &node)?;
    closing.extend(checks);
    let (console, checks) = console_in_a_browser(workspace, &node)?;
    closing.extend(checks);
    Ok((suite.and(front_end).and(console), closing))
}

/// The console: its types checked, and driven in a real browser against the built binary.
fn console_in_a_browser(workspace: &Workspace, node: &node::Node) -> Result<(Result<()>, Vec<String>)> {
    console::check(workspace)?;
    let mut script = Command::new(&node.program);
    script.arg(workspace.root.join("tests/console/browser.mjs")).env("WHARF", workspace.binary("debug", "wharf"));
    script.env("WHARF_AXE", console::folder(workspace).join("node_modules/axe-core/axe.min.js"));
    command::run_and_keep(script.current_dir(&workspace.root), |line| line.starts_with("console: "))
}

/// The package for front ends: built, its types checked, and its example run in a real
/// browser against the built binary.
fn front_end(workspace: &Workspace, node: &node::Node) -> Result<(Result<()>, Vec<String>)> {
    let (source, folder) = (workspace.root.join("sdk").join("front-end"), workspace.target().join("front-end"));
    node::install_once(&source, &folder, "TypeScript")?;
    let compiler = folder.join("node_modules").join("typescript").join("bin").join("tsc");
    for project in [source.clone(), source.join("tests")] {
        let mut compile = Command::new(&node.program);
        if let Err(error) = command::run(compile.arg(&compiler).arg("--project").arg(&project)) {
            return Ok((Err(error), Vec::new()));
        }
    }
    let mut script = Command::new(&node.program);
    script.arg(source.join("tests").join("browser.mjs")).env("WHARF", workspace.binary("debug", "wharf"));
    command::run_and_keep(script.current_dir(&workspace.root), |line| line.starts_with("front end: "))
}

fn lint(workspace: &Workspace) -> Result<()> {
    let formatted = command::run(command::cargo(&workspace.root).args(["fmt", "--all", "--check"]));
    formatted.and(lints::check(workspace)).and(locked(workspace))
}

/// The crates beside the workspace have lock files of their own, which a change of the host's
/// dependencies leaves behind; they are seldom built.
fn locked(workspace: &Workspace) -> Result<()> {
    for crates in ["fuzz", "wry"] {
        let mut update = command::cargo(&workspace.root.join("tests").join(crates));
        command::run(update.args(["update", "--quiet", "--workspace", "--locked"])).with_context(|| {
            format!("tests/{crates}/Cargo.lock is out of date: run `cargo update --workspace` in tests/{crates}")
        })?;
    }
    Ok(())
}
