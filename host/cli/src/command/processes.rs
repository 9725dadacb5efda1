//! `wharf processes`: the processes of the hosts that run on a data directory.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::{global::Global, hosts::HostEntries, listing::Listing};
use wharf::service::operator::OperatorList;

/// List the processes of running hosts, and how they are polled
///
/// Asks every host that serves on this data directory, whichever client it
/// serves. Those that have ended are listed as long as they are kept.
#[derive(Debug, Args)]
pub(super) struct ProcessesArguments {
    /// Those alone that start or run
    #[arg(long)]
    running: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ProcessesArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let mut processes = HostEntries::ask(global, async |host| host.list(OperatorList::Processes).await)?;
        if self.running {
            processes.entries.retain(|process| process["finished"].is_null());
        }
        processes.print(self.json, "processes", "There is no process", table)
    }
}

fn table(processes: &[Value]) -> Listing {
    let mut listing = Listing::new(["id", "status", "tenant", "session", "started", "polls", "command"], 0..0);
    for process in processes {
        let text = |name: &str| process[name].as_str().unwrap_or("-");
        // What a program is called must not steer the operator's terminal.
        let command = wharf::text::line(text("command"), 60);
        let polls = polls(&process["polls"]);
        let [id, status, tenant, session, started] = ["id", "status", "tenant", "session", "started"].map(text);
        listing.row([&id, &status, &tenant, &session, &started, &polls, &command]);
    }
    listing
}

/// `7, 5 in a row, mean 1.5 s`.
fn polls(polls: &Value) -> String {
    let Some(total) = polls["total"].as_u64().filter(|total| *total > 0) else { return "-".to_owned() };
    let mut text = total.to_string();
    if let Some(in_a_row) = polls["in_a_row"].as_u64().filter(|in_a_row| *in_a_row > 1) {
        text.push_str(&format!(", {in_a_row} in a row"));
    }
    if let Some(mean) = polls["intervals"]["mean_milliseconds"].as_u64() {
        text.push_str(&format!(", mean {}.{} s", mean / 1_000, mean % 1_000 / 100));
    }
    text
}
