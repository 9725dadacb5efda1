//! `wharf hosts`: the hosts of a cluster, and which of them take no further session.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use wharf::cluster::{ClusterHosts, ClusterHostsError, HostRecord};

use crate::{
    exit::{FAILED, Unusable},
    global::{Global, runtime},
    listing::Listing,
    print::{self, print_json},
};

/// List the hosts of the cluster, or have one take no further session
///
/// The hosts of a cluster share the database that [state] names, and this command asks it: it
/// needs the [cluster] table of any of them, and none of them has to run on this machine. Those
/// that died are listed for an hour.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf hosts                     name, address, version, sessions and calls of each host
  wharf hosts drain wharf-1       before wharf-1 is stopped: new sessions go to other hosts
  wharf hosts resume wharf-1      it takes sessions again

A host that drains answers 503 at /v1/ready, so that balancers send their requests elsewhere, and keeps the sessions
whose home it is. SIGTERM drains a host by itself before it ends: see `drain_seconds` under [cluster].")]
pub(super) struct HostsArguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Have a host take no further session
    Drain {
        /// Its name, as `wharf hosts` lists it
        name: String,
    },
    /// Have a host take sessions again
    Resume {
        /// Its name, as `wharf hosts` lists it
        name: String,
    },
}

impl HostsArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        runtime()?.block_on(async {
            let hosts = ClusterHosts::open(&configuration).await.map_err(unusable)?;
            match self.command {
                None => list(hosts.list().await.map_err(unusable)?, self.json),
                Some(Command::Drain { name }) => drain(&hosts, &name, true).await,
                Some(Command::Resume { name }) => drain(&hosts, &name, false).await,
            }
        })
    }
}

fn unusable(error: ClusterHostsError) -> Unusable {
    Unusable(wharf::with_causes(&error))
}

async fn drain(hosts: &ClusterHosts, name: &str, is_draining: bool) -> Result<ExitCode> {
    if !hosts.drain(name, is_draining).await.map_err(unusable)? {
        eprintln!("error: no host `{name}` of the cluster is alive; `wharf hosts` lists them");
        return Ok(FAILED.into());
    }
    let what = if is_draining { "takes no further session" } else { "takes sessions again" };
    println!("{name} {what}, within a second.");
    Ok(ExitCode::SUCCESS)
}

fn list(hosts: Vec<HostRecord>, as_json: bool) -> Result<ExitCode> {
    if as_json {
        let hosts: Vec<_> = hosts
            .iter()
            .map(|host| {
                json!({
                    "name": host.host, "address": host.address, "version": host.version, "state": host.state(),
                    "sessions": host.report.sessions, "calls": host.report.calls,
                    "silentMs": host.silent_milliseconds, "incarnation": host.incarnation.to_string(),
                })
            })
            .collect();
        print_json(&json!({"hosts": hosts}))?;
        return Ok(ExitCode::SUCCESS);
    }
    show(&hosts)?;
    Ok(ExitCode::SUCCESS)
}

fn show(hosts: &[HostRecord]) -> io::Result<()> {
    let mut out = print::listing();
    if hosts.is_empty() {
        writeln!(out, "No host of the cluster is alive.")?;
        return out.flush();
    }
    let mut listing = Listing::new(["host", "state", "sessions", "calls", "last beat", "version", "address"], 2..5);
    for host in hosts {
        let beat = format!(
            "{:.1} s",
            std::time::Duration::from_millis(host.silent_milliseconds.max(0).cast_unsigned()).as_secs_f64()
        );
        let report = &host.report;
        listing.row([&host.host, &host.state(), &report.sessions, &report.calls, &beat, &host.version, &host.address]);
    }
    write!(out, "{listing}")?;
    out.flush()
}
