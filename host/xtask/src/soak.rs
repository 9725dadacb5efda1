//! `cargo xtask soak`: kills the host many more times than the tests do.
//!
//! Owns the builds and the number of rounds. What a round is, and what must be
//! true after it, is in the tests.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use lexopt::{Arg, ValueExt as _};

use crate::command::{self, say};
use crate::components;
use crate::packages;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

const HELP: &str = "\
Kills the host at random moments while sessions write through every plugin, starts
it again, and checks each time that everything acknowledged is there, that nothing
is there by half, and that it answers again in under a second.

Usage: cargo xtask soak [OPTIONS]

Options:
  --cluster     Kill one of three hosts that serve as one, while callers go to all
  --rounds N    Kills (default 300, or 1,000 with --cluster; the tests make 30 and 60)
  --seed N      Which calls are made; the one of a run that failed makes them again
  -h, --help    This text

What a kill meets depends on the machine, too, so the same seed need not fail again.
";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut rounds, mut is_cluster): (Option<u32>, _) = (None, false);
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| u64::from(since.subsec_nanos()));
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("cluster") => is_cluster = true,
            Arg::Long("rounds") => rounds = Some(arguments.value()?.parse()?),
            Arg::Long("seed") => seed = arguments.value()?.parse()?,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let rounds = rounds.unwrap_or(if is_cluster { 1_000 } else { 300 });
    let workspace = Workspace::find()?;
    packages::ensure_postgres(&workspace)?;
    components::build(&workspace, true, Choice::from_environment()?)?;
    // All members together, as the tests have them: see `test`.
    say("Building the host");
    command::run(&mut command::building_programs(&workspace.root, &["--bins"])?)?;
    say(&format!("{rounds} rounds with --seed {seed}"));
    let mut test = command::cargo(&workspace.root);
    test.args(["test", "--workspace", "--test", "end_to_end", "--", "--nocapture"]);
    // By their names in the tests.
    let chosen: &[&str] =
        if is_cluster { &["kills::kills_of_hosts"] } else { &["kills::", "--skip", "kills_of_hosts"] };
    test.args(chosen);
    test.env("WHARF", workspace.binary("debug", "wharf"));
    command::run(test.env("WHARF_SOAK_ROUNDS", rounds.to_string()).env("WHARF_SOAK_SEED", seed.to_string()))
}
