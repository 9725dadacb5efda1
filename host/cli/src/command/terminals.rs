//! `wharf terminals`: the terminals of the hosts that run on a data directory.

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
        let data = global.data(&global.configuration()?)?;
        let hosts = wharf::control::running_hosts(&data)
            .map_err(|error| Unusable(format!("cannot look for hosts in {}: {error}", data.display())))?;
        let running = hosts.len();
        let terminals = runtime()?.block_on(async {
            let mut terminals = Vec::new();
            for host in hosts {
                match host.terminals().await {
                    Ok(listed) => terminals.extend(listed),
                    Err(error) => tracing::warn!("a host does not answer: {}", wharf::with_causes(&error)),
                }
            }
            terminals
        });
        if self.json {
            print_json(&json!({"hosts": running, "terminals": terminals}))?;
            return Ok(ExitCode::SUCCESS);
        }
        show(&terminals, running)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn show(terminals: &[Value], running: usize) -> io::Result<()> {
    let mut out = print::listing();
    if terminals.is_empty() {
        let hosts = if running == 0 { "No host serves on this data directory" } else { "No terminal is open" };
        writeln!(out, "{hosts}.")?;
        return out.flush();
    }
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
    write!(out, "{listing}")?;
    out.flush()
}
