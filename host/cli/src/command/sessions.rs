//! `wharf sessions`: whose files there are, how large, and their end.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::SystemTime,
};

use anyhow::Result;
use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Args, Subcommand};
use serde_json::json;
use wharf::{
    SessionId, TenantId,
    workspaces::{WorkspaceError, WorkspaceKey, WorkspaceListing, WorkspaceSummary, Workspaces},
};

use crate::{
    bytes::size,
    exit::{FAILED, Unusable},
    global::Global,
    listing::Listing,
    print::{self, print_json},
};

/// One that cannot be read, and why.
type Unreadable = (WorkspaceKey, WorkspaceError);

/// List the workspaces of sessions with their sizes, or remove one
///
/// A session gets a workspace when a tool first writes a file or starts a
/// process in it. One that nobody used for `expiry_seconds` of `[workspace]`
/// (30 days) is removed by the next host that looks.
#[derive(Debug, Args)]
pub(super) struct SessionsArguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remove the workspace of a session with all its files
    ///
    /// Without --yes it shows what would go, and ends with exit code 1. Refused
    /// while a call, process, terminal or page of any host works in it, and for
    /// half a minute after the last one.
    Remove {
        /// Which session
        session: SessionId,

        /// Of which tenant
        #[arg(long, default_value = "local")]
        tenant: TenantId,

        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

impl SessionsArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let workspaces = wharf::workspaces::of(&configuration, &global.data(&configuration)?);
        match self.command {
            None => list(&workspaces, self.json),
            Some(Command::Remove { session, tenant, yes }) => {
                remove(&workspaces, &WorkspaceKey::restored(tenant, session), yes)
            }
        }
    }
}

fn all(workspaces: &Workspaces) -> Result<WorkspaceListing> {
    workspaces.list().map_err(|error| Unusable(wharf::with_causes(&error)).into())
}

fn list(workspaces: &Workspaces, as_json: bool) -> Result<ExitCode> {
    let WorkspaceListing { workspaces: listed, unreadable, .. } = all(workspaces)?;
    if as_json {
        let sessions: Vec<_> = listed
            .iter()
            .map(|one| {
                json!({
                    "tenant": one.key.tenant, "session": one.key.session, "bytes": one.usage.bytes,
                    "entries": one.usage.entries, "incomplete": one.usage.incomplete, "used": time(one.used),
                })
            })
            .collect();
        let mut found = json!({"sessions": sessions, "quotaBytes": workspaces.quota_bytes()});
        if !unreadable.is_empty() {
            let broken = |(key, error): &Unreadable| json!({"tenant": key.tenant, "session": key.session, "error": wharf::with_causes(error)});
            found["unreadable"] = unreadable.iter().map(broken).collect();
        }
        print_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    complain(&unreadable);
    show(&listed, workspaces.quota_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Names what cannot be read.
fn complain(unreadable: &[Unreadable]) {
    for (key, error) in unreadable {
        let error = wharf::with_causes(error);
        eprintln!("the workspace of session {} of tenant {} cannot be read: {error}", key.session, key.tenant);
    }
}

fn show(listed: &[WorkspaceSummary], quota_bytes: u64) -> io::Result<()> {
    let mut out = print::listing();
    if listed.is_empty() {
        writeln!(out, "No session has a workspace.")?;
        return out.flush();
    }
    let mut listing = Listing::new(["tenant", "session", "size", "entries", "last used"], 2..4);
    for one in listed {
        let WorkspaceSummary { key, usage, used, .. } = one;
        listing.row([&key.tenant, &key.session, &size(usage.bytes), &usage.entries, &time(*used)]);
    }
    write!(out, "{listing}")?;
    let sum = listed.iter().map(|one| one.usage.bytes).sum();
    writeln!(out, "{} workspaces, {} in all; one may hold {}", listed.len(), size(sum), size(quota_bytes))?;
    out.flush()
}

fn remove(workspaces: &Workspaces, key: &WorkspaceKey, yes: bool) -> Result<ExitCode> {
    let WorkspaceListing { workspaces: listed, unreadable, .. } = all(workspaces)?;
    let found = listed.into_iter().filter(|one| one.key == *key).collect::<Vec<_>>();
    let broken = unreadable.into_iter().filter(|(of, _)| of == key).collect::<Vec<_>>();
    if found.is_empty() && broken.is_empty() {
        println!("The session {} of {} has no workspace.", key.session, key.tenant);
        return Ok(ExitCode::SUCCESS);
    }
    if !yes {
        complain(&broken);
        if !found.is_empty() {
            show(&found, workspaces.quota_bytes())?;
        }
        eprintln!("nothing was removed; the same command with --yes removes this for good");
        return Ok(ExitCode::from(FAILED));
    }
    workspaces.remove(key).map_err(|error| Unusable(wharf::with_causes(&error)))?;
    println!("Removed the workspace of {}.", key.session);
    Ok(ExitCode::SUCCESS)
}

fn time(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}
