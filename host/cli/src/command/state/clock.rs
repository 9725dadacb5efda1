//! `wharf state confirm-clock`: the clock jumped, and it is right.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::store::{open_quietly, unusable};
use crate::global::Global;

/// Say that the clock is right, after hosts have stopped to believe it
///
/// State and files that nobody uses expire after a while. Where the clock of the
/// machine jumps by more than a week, hosts go on by the time that really passes,
/// so that a wrong clock ends nothing. Where the clock is right, this makes it count:
/// what was to expire meanwhile does so within minutes.
#[derive(Debug, Args)]
pub(super) struct ConfirmClock {
    /// Do it; without this, only say what is doubted
    #[arg(long)]
    yes: bool,
}

impl ConfirmClock {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let inventory = open_quietly(global)?;
        let Some(doubt) = inventory.clock_doubt().map_err(unusable)? else {
            println!("The clock is not doubted.");
            return Ok(ExitCode::SUCCESS);
        };
        println!("{doubt}.");
        if self.yes {
            inventory.confirm_clock().map_err(unusable)?;
            println!("From now on its word counts.");
        } else {
            println!("Nothing was done. With --yes, its word counts, and what was to expire meanwhile expires.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
