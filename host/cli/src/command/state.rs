//! `wharf state`: what plugins keep, for the operator of the data directory.

mod change;
mod clock;
mod export;
mod show;

use std::{io, process::ExitCode};

use anyhow::Result;
use clap::{Args, Subcommand};
use wharf::{
    AssistantId, BucketName, BucketSelection, Inventory, InventoryError, PluginName, ScopeKind, SessionId, TenantId,
    ThreadId,
};

use super::{Global, Unusable, bytes::size};

/// Look at the state that plugins keep, carry it elsewhere, or clear it
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
  wharf state confirm-clock --yes                    the clock jumped, and it is right")]
pub(super) struct State {
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
}

/// Which buckets are meant. Without any of these: all of them.
#[derive(Debug, Args)]
struct Filters {
    /// Only those of this tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantId>,

    /// Only those of this plugin
    #[arg(long, value_name = "NAME")]
    plugin: Option<PluginName>,

    /// Only those of this scope: thread, session, assistant or plugin
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<ScopeKind>,

    /// Only those of this session and its threads
    #[arg(long, value_name = "NAME")]
    session: Option<SessionId>,

    /// Only those of this assistant and its threads
    #[arg(long, value_name = "NAME")]
    assistant: Option<AssistantId>,

    /// Only those of this thread
    #[arg(long, value_name = "NAME")]
    thread: Option<ThreadId>,

    /// Only those of this name
    #[arg(long, value_name = "NAME")]
    bucket: Option<BucketName>,
}

fn scope(word: &str) -> Result<ScopeKind, String> {
    ScopeKind::from_word(word).ok_or_else(|| "it is thread, session, assistant or plugin".to_owned())
}

impl Filters {
    fn selection(&self) -> BucketSelection {
        BucketSelection {
            tenant: self.tenant.clone(),
            plugin: self.plugin.clone(),
            kind: self.scope,
            session: self.session.clone(),
            assistant: self.assistant.clone(),
            thread: self.thread.clone(),
            bucket: self.bucket.clone(),
        }
    }
}

impl State {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let done = match self.command {
            Command::Usage(usage) => usage.run(global),
            Command::List(list) => list.run(global),
            // A cut export must not pass for a whole one.
            Command::Export(export) => return export.run(global),
            Command::Import(import) => import.run(global),
            Command::Clear(clear) => clear.run(global),
            Command::ConfirmClock(confirm) => confirm.run(global),
        };
        match done {
            // Whoever read enough of a listing closes it.
            Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            done => done,
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The store of the data directory. Says where its hosts do not believe the clock.
fn open(global: &Global) -> Result<Inventory> {
    let inventory = open_quietly(global)?;
    if let Some(doubt) = inventory.clock_doubt().map_err(unusable)? {
        eprintln!("{doubt}; `wharf state confirm-clock` says that it is right");
    }
    Ok(inventory)
}

fn open_quietly(global: &Global) -> Result<Inventory> {
    let data = global.data(&global.configuration()?)?;
    Inventory::open(&data).map_err(unusable)
}

/// Tells what is wrong with the data directory from what is wrong with the
/// command.
fn unusable(error: InventoryError) -> anyhow::Error {
    match &error {
        InventoryError::Absent { .. } | InventoryError::Open(_) | InventoryError::State(_) => {
            Unusable(wharf::with_causes(&error)).into()
        }
        InventoryError::Write(_) | InventoryError::Import(_) => error.into(),
    }
}
