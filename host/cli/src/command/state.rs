//! `wharf state`: what plugins keep, for the operator of the data directory.

mod change;
mod clock;
mod export;
mod rekey;
mod show;
mod store;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::global::Global;

/// Look at the state that plugins keep, carry it elsewhere, encrypt or clear it
///
/// Works on the data directory itself, whether hosts use it or not, and sees
/// what the plugins of all tenants keep. A bucket is what one plugin keeps in
/// one scope: for a thread, a session, an assistant, or all its calls.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf state usage                                  how much there is, beside what there may be
  wharf state list --session demo                    the buckets of one session
  wharf state export --output state.jsonl            everything, as one file
  wharf state import state.jsonl --data elsewhere    the same in another data directory
  wharf state clear --plugin planning --session demo what would go; with --yes it goes
  wharf state confirm-clock --yes                    the clock jumped, and it is right
  wharf state rekey                                  encrypt what is on disk under a new key")]
pub(super) struct StateArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Usage(show::Usage),
    List(show::List),
    Export(export::Export),
    Import(change::Import),
    Clear(change::Clear),
    ConfirmClock(clock::ConfirmClock),
    Rekey(rekey::Rekey),
    Read(rekey::ReadFile),
}

impl StateArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        match self.command {
            Command::Usage(usage) => usage.run(global),
            Command::List(list) => list.run(global),
            Command::Export(export) => export.run(global),
            Command::Import(import) => import.run(global),
            Command::Clear(clear) => clear.run(global),
            Command::ConfirmClock(confirm) => confirm.run(global),
            Command::Rekey(rekey) => rekey.run(global),
            Command::Read(read) => read.run(global),
        }
    }
}
