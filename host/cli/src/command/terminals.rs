//! `wharf terminals`: the terminals of the hosts that run on a data directory.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::{global::Global, hosts::HostEntries, listing::Listing};
use wharf::service::operator::OperatorList;

/// List the terminals of running hosts
///
/// Asks every host that serves on this data directory, whichever client it
/// serves. `wharf attach ID` shows one live.
#[derive(Debug, Args)]
pub(super) struct TerminalsArguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl TerminalsArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let terminals = HostEntries::ask(global, async |host| host.list(OperatorList::Terminals).await)?;
        terminals.print(self.json, "terminals", "No terminal is open", table)
    }
}

fn table(terminals: &[Value]) -> Listing {
    let mut listing = Listing::new(["id", "status", "session", "last used", "size", "command"], 4..5);
    for terminal in terminals {
        let text = |name: &str| terminal[name].as_str().unwrap_or("-");
        let size = format!("{}x{}", terminal["columns"], terminal["rows"]);
        // What a program is called must not steer the operator's terminal.
        let command = wharf::text::line(text("command"), 60);
        listing.row([&text("id"), &text("status"), &text("session"), &text("last_used"), &size, &command]);
        if let Some(because) = terminal["because"].as_str() {
            listing.note(wharf::text::line(because, 200));
        }
    }
    listing
}
