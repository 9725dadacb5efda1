//! Whether the disk has room for what is built. Knows nothing of what that is.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{self, say};
use crate::workspace::Workspace;

const GIGABYTE: u64 = 1_000_000_000;

/// Says so where the disk of `target/` has less room than `needed` gigabytes, with what is
/// there already: a compiler that finds the disk full says so late, and not what to do.
pub(crate) fn warn_where_scarce(workspace: &Workspace, needed: u64) -> Result<()> {
    let target = workspace.target();
    std::fs::create_dir_all(&target)?;
    let mut asked = Command::new("df");
    let free = last_number(&command::capture(asked.args(["--output=avail", "--block-size=1"]).arg(&target))?)?;
    if free >= needed * GIGABYTE {
        return Ok(());
    }
    let used = first_number(&command::capture(Command::new("du").args(["-s", "--block-size=1"]).arg(&target))?)?;
    if free + used < needed * GIGABYTE {
        say(&format!(
            "The disk of {} has {} GB free, and {} GB are there; all of this takes about {needed} GB. Make room first, or \
             set CARGO_TARGET_DIR to a folder of another disk.",
            target.display(),
            free / GIGABYTE,
            used / GIGABYTE,
        ));
    }
    Ok(())
}

fn last_number(said: &str) -> Result<u64> {
    said.split_whitespace().next_back().and_then(|word| word.parse().ok()).context("df says no number")
}

fn first_number(said: &str) -> Result<u64> {
    said.split_whitespace().next().and_then(|word| word.parse().ok()).context("du says no number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_where_both_programs_say_them() {
        assert_eq!(last_number("     Avail\n51539607552\n").expect("a number"), 51_539_607_552);
        assert_eq!(first_number("22520000000\t/a folder/target\n").expect("a number"), 22_520_000_000);
        assert!(last_number("").is_err() && first_number("du: nothing").is_err());
    }
}
