//! `cargo xtask fuzz`: looks for input that breaks what must hold whatever
//! comes.
//!
//! Owns the flags and the folders. What must hold, and what is fed, is in
//! tests/fuzz and tests/terminals. Works with the ordinary toolchain: compiling
//! for coverage takes flags, not features.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::workspace::Workspace;

const HELP: &str = "\
Feeds hostile input, found by libFuzzer, to the stream and the screen of terminals
and to the completion detector, and stops at the first that breaks a promise.

Usage: cargo xtask fuzz [TARGET] [OPTIONS]

Targets: stream, detector; all of them one after the other where none is named

Options:
  --minutes N   How long each (default 10)
  --keep        Add what was found, as few and as short as possible, to tests/fuzz/corpus,
                which the tests replay; choose from it, since the repository keeps little
  -h, --help    This text

Needs a C++ compiler, for libFuzzer. What breaks something is left below
target/fuzz/artifacts; `cargo xtask fuzz TARGET --minutes 0` replays it and the corpus.
";

const TARGETS: [&str; 2] = ["stream", "detector"];

/// What libFuzzer looks at while a program runs.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

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
    if let Some(unknown) = wanted.iter().find(|name| !TARGETS.contains(&name.as_str())) {
        bail!("there is no target `{unknown}`; there are {}", TARGETS.join(", "));
    }
    let workspace = Workspace::find()?;
    let fuzz = Fuzz::build(&workspace)?;
    for target in TARGETS.into_iter().filter(|target| wanted.is_empty() || wanted.iter().any(|name| name == target)) {
        fuzz.run(target, minutes)?;
        if keep {
            fuzz.keep(target)?;
        }
    }
    Ok(())
}

/// Where things are.
struct Fuzz {
    binaries: PathBuf,
    corpus: PathBuf,
    found: PathBuf,
    artifacts: PathBuf,
}

impl Fuzz {
    fn build(workspace: &Workspace) -> Result<Self> {
        say("Building the targets");
        let host = command::capture(Command::new("rustc").arg("-vV"))?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not say its host")?;
        let (source, folder) = (workspace.root.join("tests").join("fuzz"), workspace.target().join("fuzz"));
        let mut build = command::cargo(&source);
        build.args(["build", "--release", "--locked", "--bins", "--target", host]);
        build.arg("--target-dir").arg(&folder).env("RUSTFLAGS", FLAGS);
        command::run(&mut build)?;
        let (found, artifacts) = (folder.join("corpus"), folder.join("artifacts"));
        let binaries = folder.join(host).join("release");
        Ok(Self { binaries, corpus: source.join("corpus"), found, artifacts })
    }

    fn target(&self, target: &str) -> Command {
        let mut run = Command::new(self.binaries.join(target));
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
