//! `wharf processes`: the processes of the hosts that run on a data directory.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::{
    exit::Unusable,
    global::{Global, runtime},
    listing::Listing,
    print::{self, print_json},
};

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
        let data = global.data(&global.configuration()?)?;
        let hosts = wharf::control::running_hosts(&data)
            .map_err(|error| Unusable(format!("cannot look for hosts in {}: {error}", data.display())))?;
        let running = hosts.len();
        let mut processes = runtime()?.block_on(async {
            let mut processes = Vec::new();
            for host in hosts {
                match host.processes().await {
                    Ok(listed) => processes.extend(listed),
                    Err(error) => tracing::warn!("a host does not answer: {}", wharf::with_causes(&error)),
                }
            }
            processes
        });
        if self.running {
            processes.retain(|process| process["finished"].is_null());
        }
        if self.json {
            print_json(&json!({"hosts": running, "processes": processes}))?;
            return Ok(ExitCode::SUCCESS);
        }
        show(&processes, running)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn show(processes: &[Value], running: usize) -> io::Result<()> {
    let mut out = print::listing();
    if processes.is_empty() {
        let hosts = if running == 0 { "No host serves on this data directory" } else { "There is no process" };
        writeln!(out, "{hosts}.")?;
        return out.flush();
    }
    let mut listing = Listing::new(["id", "status", "tenant", "session", "started", "polls", "command"], 0..0);
    for process in processes {
        let text = |name: &str| process[name].as_str().unwrap_or("-");
        // What a program is called must not steer the operator's terminal.
        let command = wharf::text::line(text("command"), 60);
        let polls = polls(&process["polls"]);
        let [id, status, tenant, session, started] = ["id", "status", "tenant", "session", "started"].map(text);
        listing.row([&id, &status, &tenant, &session, &started, &polls, &command]);
    }
    write!(out, "{listing}")?;
    out.flush()
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
