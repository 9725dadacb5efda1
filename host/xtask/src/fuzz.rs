//! `cargo xtask fuzz`: looks for input that breaks what must hold whatever
//! comes.
//!
//! Owns the flags and the folders. What must hold, and what is fed, is in
//! tests/src/hostile, tests/fuzz and tests/terminals, and over HTTP in
//! tests/routes. Works with the ordinary toolchain: compiling for coverage
//! takes flags, not features.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::compiler;
use crate::components;
use crate::routes;
use crate::toolchain::{self, Choice};
use crate::workspace::Workspace;

const HELP: &str = "\
Feeds hostile input and stops at the first that breaks a promise. libFuzzer finds it for
  stream, detector   the stream and the screen of terminals, the completion detector
  configuration      wharf.toml
  arguments          calls of tools: names, arguments, `__` fields, metadata, lines
  definitions        what a plugin says of its tools, prompts and resources
  answers            what a guest leaves in its memory as an answer
  compiled           components, and the code that passes for theirs
and schemathesis, by the OpenAPI description of a host that serves, for
  http               every route: no status of 500 or more, nothing that is not described

Usage: cargo xtask fuzz [TARGET...] [OPTIONS]

All of them one after the other where none is named.

Options:
  --minutes N   How long each (default 10)
  --keep        Add what was found, as few and as short as possible, to tests/fuzz/corpus,
                which the tests replay; choose from it, since the repository keeps little
  -h, --help    This text

Needs a C++ compiler, for libFuzzer, and Python for `http`. What breaks something is left below
target/fuzz/artifacts; `cargo xtask fuzz TARGET --minutes 0` replays it and the corpus.

Example: five minutes of hostile configurations
  cargo xtask fuzz configuration --minutes 5
";

/// Those of terminals, which are built for themselves, with the libraries that parse.
const OF_TERMINALS: [&str; 2] = ["stream", "detector"];
/// Those of the whole workspace, of which the members alone are built with counters.
const OF_THE_WORKSPACE: [&str; 5] = ["configuration", "arguments", "definitions", "answers", "compiled"];
/// The one that is fed over HTTP.
const HTTP: &str = "http";

/// What libFuzzer looks at while a program runs.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";
/// And what else the members of the workspace are built with: fast, and checked.
const CHECKED: &str = "-Copt-level=2 -Cdebug-assertions=on -Coverflow-checks=on";

/// Longer input finds little more.
const MAX_BYTES: u32 = 4096;
/// A target that takes more has lost its bounds.
const MAX_MEBIBYTES: u32 = 512;

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut wanted, mut minutes, mut keep) = (Vec::new(), 10_u32, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("minutes") => minutes = arguments.value()?.parse()?,
            Arg::Long("keep") => keep = true,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            Arg::Value(name) => wanted.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let known: Vec<_> = OF_TERMINALS.into_iter().chain(OF_THE_WORKSPACE).chain([HTTP]).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no target `{unknown}`; there are {}", known.join(", "));
    }
    let workspace = Workspace::find()?;
    let is_wanted = |target: &&str| wanted.is_empty() || wanted.iter().any(|name| name == target);
    let of_terminals: Vec<_> = OF_TERMINALS.into_iter().filter(is_wanted).collect();
    let of_the_workspace: Vec<_> = OF_THE_WORKSPACE.into_iter().filter(is_wanted).collect();
    if !of_terminals.is_empty() {
        Fuzz::of_terminals(&workspace)?.run_all(&of_terminals, minutes, keep)?;
    }
    if !of_the_workspace.is_empty() {
        Fuzz::of_the_workspace(&workspace, &of_the_workspace)?.run_all(&of_the_workspace, minutes, keep)?;
    }
    if is_wanted(&HTTP) {
        components::build(&workspace, true, Choice::from_environment()?)?;
        command::run(&mut command::building_programs(&workspace.root, &["--bins"])?)?;
        routes::feed(&workspace, minutes)?;
    }
    Ok(())
}

/// Where things are.
struct Fuzz {
    binaries: PathBuf,
    /// What the names of binaries begin with.
    prefix: &'static str,
    corpus: PathBuf,
    found: PathBuf,
    artifacts: PathBuf,
}

impl Fuzz {
    fn new(workspace: &Workspace, binaries: PathBuf, prefix: &'static str) -> Self {
        let folder = workspace.target().join("fuzz");
        let corpus = workspace.root.join("tests").join("fuzz").join("corpus");
        Self { binaries, prefix, corpus, found: folder.join("corpus"), artifacts: folder.join("artifacts") }
    }

    fn of_terminals(workspace: &Workspace) -> Result<Self> {
        say("Building the targets of terminals");
        let host = toolchain::host_triple()?;
        let (source, folder) = (workspace.root.join("tests").join("fuzz"), workspace.target().join("fuzz"));
        let mut build = command::cargo(&source);
        build.args(["build", "--release", "--locked", "--bins", "--target", &host]);
        build.arg("--target-dir").arg(&folder).env("RUSTFLAGS", FLAGS);
        command::run(&mut build)?;
        Ok(Self::new(workspace, folder.join(host).join("release"), ""))
    }

    /// In the folder of ordinary builds, whose code of all that is no member they share.
    fn of_the_workspace(workspace: &Workspace, targets: &[&str]) -> Result<Self> {
        say("Building the targets of the workspace");
        let compiler = compiler::install(&workspace.target().join("fuzz"))?;
        let mut build = command::cargo(&workspace.root);
        build.args(["build", "--workspace", "--features", "wharf-tests/fuzz"]);
        for target in targets {
            build.arg("--bin").arg(format!("fuzz-{target}"));
        }
        command::run(build.envs(compiler::environment(&compiler, &format!("{FLAGS} {CHECKED}"))))?;
        let binary = workspace.binary("debug", "fuzz");
        let binaries = binary.parent().context("binaries have a folder")?;
        Ok(Self::new(workspace, binaries.to_owned(), "fuzz-"))
    }

    fn run_all(&self, targets: &[&str], minutes: u32, keep: bool) -> Result<()> {
        for target in targets {
            self.run(target, minutes)?;
            if keep {
                self.keep(target)?;
            }
        }
        Ok(())
    }

    fn target(&self, target: &str) -> Command {
        let mut run = Command::new(self.binaries.join(format!("{}{target}", self.prefix)));
        run.arg(format!("-max_len={MAX_BYTES}")).arg(format!("-rss_limit_mb={MAX_MEBIBYTES}")).arg("-timeout=10");
        run
    }

    fn run(&self, target: &str, minutes: u32) -> Result<()> {
        let (found, artifacts) = (self.found.join(target), self.artifacts.join(target));
        std::fs::create_dir_all(&found)?;
        std::fs::create_dir_all(&artifacts)?;
        let mut run = self.target(target);
        if minutes == 0 {
            say(&format!("Replaying {target}"));
            run.arg("-runs=0").arg(&artifacts);
        } else {
            say(&format!("Feeding {target} for {minutes} min"));
            run.arg(format!("-max_total_time={}", minutes * 60)).arg("-print_final_stats=1");
            run.arg(format!("-artifact_prefix={}/", artifacts.display()));
        }
        command::run(run.arg(&found).arg(self.corpus.join(target)))
    }

    /// The shortest input that reaches what all of it does.
    fn keep(&self, target: &str) -> Result<()> {
        say(&format!("Adding to the corpus of {target}"));
        let mut merge = self.target(target);
        command::run(
            merge
                .args(["-set_cover_merge=1", "-max_len=64"])
                .arg(self.corpus.join(target))
                .arg(self.found.join(target)),
        )
    }
}
