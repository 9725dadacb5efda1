//! `wharf audit`: what happened, for the operator of the data directory.

mod filters;
mod show;
mod summary;
mod verify;
mod vulnerabilities;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::global::Global;

/// Show what was called, and what plugins asked their hosts for
///
/// Reads the lines below the data directory, of hosts that run and of those that
/// are gone, in the order of their times. There is one line for each call and one
/// for each thing that a plugin asked for: names, ids, sizes and times, no
/// arguments and no answers. What one call was denied again and again is one line
/// with a count, and so are requests without a right token. `[audit]` in wharf.toml
/// says what is kept.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Examples:
  wharf audit --last 20                              the last calls, and what they asked for
  wharf audit --kind denied --since 1h               what was refused in the last hour
  wharf audit --plugin workspace --function process  what a plugin did with processes
  wharf audit --follow --kind call                   calls as they end
  wharf audit --id 3f2a9c1e5b1e7c3a-17 --json        all of one call, as lines of JSON
  wharf audit summary --since 7d                     counts and times by plugin, tool and outcome
  wharf audit verify                                 whether lines were changed, taken out or cut off
  wharf audit vulnerabilities                        which plugins have libraries with known holes"
)]
pub(super) struct AuditArguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: show::Show,
}

#[derive(Debug, Subcommand)]
enum Command {
    Summary(summary::ShowSummary),
    Verify(verify::Verify),
    Vulnerabilities(vulnerabilities::Vulnerabilities),
}

impl AuditArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        match self.command {
            Some(Command::Summary(summary)) => summary.run(global),
            Some(Command::Verify(verify)) => verify.run(global),
            Some(Command::Vulnerabilities(vulnerabilities)) => vulnerabilities.run(global),
            None => self.show.run(global),
        }
    }
}
